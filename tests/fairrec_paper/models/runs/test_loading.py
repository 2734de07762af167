"""A run that is loaded while its tables are read."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch

import fairrec
from fairrec.auditing import audit
from fairrec.core.errors import InputError
from fairrec.scoring.runs import ScoreByRun
from fairrec_paper.models.run import Run, load_run
from fairrec_paper.models.runs import LoadingRun
from tests.end_to_end.command_line import run_here
from tests.fairrec_paper.models.runs.small_run import small_run

SMALL = {"permutations": 9, "min_support": 1}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return small_run(tmp_path)


def test_a_run_gives_the_audit_of_its_predictions(run: Path):
    loading, loaded = LoadingRun(run, load_run), load_run(run)
    by_positions = fairrec.audit(loading, **loading.tables(), **SMALL, command="same")
    by_ids = fairrec.audit(loaded.predictions(), **loaded.tables(), **SMALL, command="same")
    assert by_positions.to_json() == by_ids.to_json()
    assert by_positions.per_user.equals(by_ids.per_user)


def test_a_run_whose_tables_hold_text_gives_the_same(run: Path):
    loading = LoadingRun(run, load_run)
    expected = fairrec.audit(loading, **loading.tables(), **SMALL, command="same")
    for name, kind in (("test", pl.List(pl.String)), ("history", pl.String)):
        table = pl.read_parquet(run / f"{name}.parquet")
        # each text once, and a number a row
        assert table["item_id"].dtype in (pl.Categorical, pl.List(pl.Categorical))
        table.with_columns(pl.col("item_id").cast(kind)).write_parquet(run / f"{name}.parquet")
    as_text = LoadingRun(run, load_run)
    result = fairrec.audit(as_text, **as_text.tables(), **SMALL, command="same")
    assert result.per_user.equals(expected.per_user)
    assert result.groups().equals(expected.groups())


def test_predictions_hold_text_that_can_be_joined(run: Path):
    predictions = load_run(run).predictions()
    items = pl.read_parquet(run / "items.parquet")
    assert predictions.join(items, on="item_id").height == predictions.height


def test_rows_of_the_tables_may_come_in_any_order(run: Path):
    expected = fairrec.audit(load_run(run).predictions(), **load_run(run).tables(), **SMALL)
    loading = LoadingRun(run, load_run)
    users = pl.read_parquet(run / "users.parquet").reverse()
    shuffled = fairrec.audit(loading, **{**loading.tables(), "users": users}, **SMALL)
    assert shuffled.per_user.equals(expected.per_user)


def test_the_model_is_loaded_beside_the_reading(run: Path):
    may_go_on, in_thread = threading.Event(), []

    def slowly(folder: Path) -> Run:
        in_thread.append(threading.current_thread() is not threading.main_thread())
        assert may_go_on.wait(60)
        return load_run(folder)

    loading = LoadingRun(run, slowly)
    # would wait for ever if the candidates waited for the model
    assert loading.candidates().columns == ["user_id", "item_id", "label"]
    may_go_on.set()
    fairrec.audit(loading, **loading.tables(), **SMALL)
    assert in_thread == [True]


def test_what_is_wrong_with_a_run_is_said_whoever_finds_it(run: Path, monkeypatch):
    monkeypatch.chdir(run.parent)
    (run / "model.safetensors").write_bytes(b"garbage")
    ran = run_here("audit", "--run", "run", "--permutations", "0", "--quiet")
    assert ran.code == 2
    assert "model.safetensors: cannot be read as safetensors" in ran.stderr
    written = json.loads((run / "run.json").read_text()) | {"finished": False}
    (run / "run.json").write_text(json.dumps(written))
    with pytest.raises(InputError, match="training has not finished"):
        LoadingRun(run, load_run)


def test_items_that_the_model_does_not_know_are_refused(run: Path):
    foreign = pl.read_parquet(run / "test.parquet").with_columns(
        item_id=pl.lit(["nothing"], pl.List(pl.String)), label=pl.col("label").list.head(1)
    )
    foreign.write_parquet(run / "test.parquet")
    loading = LoadingRun(run, load_run)
    with pytest.raises(InputError, match="'nothing' is not in the table"):
        fairrec.audit(loading, **loading.tables(), **SMALL)


def test_scores_that_are_not_finite_are_refused(run: Path):
    def broken(folder: Path) -> Run:
        loaded = load_run(folder)
        with torch.no_grad():
            for weights in loaded.model.parameters():
                weights.fill_(np.inf)
        return loaded

    loading = LoadingRun(run, broken)
    with pytest.raises(InputError, match="scores that are not finite"):
        fairrec.audit(loading, **loading.tables(), **SMALL)


@pytest.mark.slow
def test_no_compiler_is_loaded_to_score(run: Path):
    code = (
        "import sys\n"
        "from fairrec.commands import main\n"
        "try: main()\n"
        "finally: print(*({'torch._dynamo', 'torch._inductor', 'sympy'} & {*sys.modules}))"
    )
    command = ("audit", "--run", run, "--permutations", "0", "--min-support", "1", "--quiet")
    ran = subprocess.run(
        [sys.executable, "-c", code, *command, "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == ""


def test_parts_are_scored_by_a_run_that_each_process_loads(run: Path, monkeypatch):
    loaded = load_run(run)
    whole = fairrec.audit(loaded.predictions(), **loaded.tables(), **SMALL)
    monkeypatch.setattr(audit, "is_large", lambda *_: True)
    scorer = pickle.loads(pickle.dumps(ScoreByRun(run)))
    parts = fairrec.audit(LoadingRun(run, load_run).file, scorer=scorer, **loaded.tables(), **SMALL)
    assert parts.per_user_parts is not None
    for name, about in whole.metrics.items():
        assert parts.metrics[name].mean == pytest.approx(about.mean, rel=1e-12)
