"""A run that is loaded: its tables, its scores, and that it is the one that was meant."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.models.run import load_run
from tests.end_to_end.command_line import run_here
from tests.fairrec_paper.models.runs.small_run import small_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return small_run(tmp_path)


def test_two_loads_of_a_run_score_the_same_bits(tmp_path: Path):
    run = small_run(tmp_path, "fgcnn")
    one, two = load_run(run), load_run(run)
    assert (one.predictions()["score"] == two.predictions()["score"]).all()


def test_tables_that_do_not_belong_to_the_run_are_refused(run: Path):
    candidates = pl.read_parquet(run / "test.parquet")
    foreign = candidates.with_columns(user_id=pl.lit("nobody"))
    foreign.write_parquet(run / "test.parquet")
    with pytest.raises(InputError, match="'nobody' is not in the table"):
        load_run(run).predictions()
    pl.read_parquet(run / "users.parquet").drop("gender").write_parquet(run / "users.parquet")
    with pytest.raises(InputError, match="not as it was written"):
        load_run(run)


def test_a_run_trained_again_is_not_taken_for_the_one_that_was_audited(
    run: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(run.parent)
    settings = ("--permutations", "0", "--min-support", "1", "--out", "audit", "--quiet")
    audited = run_here("audit", "--run", "run", *settings)
    assert audited.code == 0, audited.stderr
    mitigate = ("mitigate", "audit", "--metric", "urd@5", "--strength", "0.5", "--quiet")
    taken = run_here(*mitigate, "--permutations", "0", "--groups", "worst:10%")
    assert taken.code == 0, taken.stderr

    small_run(run.parent, seed=1)
    refused = run_here(*mitigate)
    assert refused.code == 2
    assert "run: was trained again since it was audited" in refused.stderr
