from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.command_line import run_here, write_tables

MODULE = "def score(user_ids, item_ids):\n    return [0.5 for _ in user_ids]\n"


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tables(tmp_path)
    (tmp_path / "flat_ranker.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_model_that_spoils_an_audit_ends_with_another_exit_code(tables: Path):
    ran = run_here("doctor", "predictions.parquet", "--scorer", "flat_ranker:score")
    assert ran.code == 1
    assert "problem " in ran.stdout


def test_a_model_must_be_named_and_its_options_must_fit(tables: Path):
    ran = run_here("doctor", "predictions.parquet")
    assert (ran.code, ran.stdout) == (2, "")
    assert "Name the model: --scorer, --endpoint or --onnx." in ran.stderr
    ran = run_here(
        "doctor", "predictions.parquet", "--scorer", "flat_ranker:score", "--concurrency", "0"
    )
    assert (ran.code, ran.stdout) == (2, "")
    assert "invalid --concurrency: expected a whole number from 1 to 256, got 0" in ran.stderr
