"""What is written down about a run, read without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fairrec.core.errors import InputError
from fairrec.models.runs.record import load_finished_record, load_run_record, read_candidates
from tests.models.runs.small_run import small_run


def test_a_record_names_the_tables_of_its_run(tmp_path: Path):
    run = small_run(tmp_path)
    tables = load_finished_record(run).tables(run)
    assert tables["users"] == run / "users.parquet" and tables["items"] == run / "items.parquet"
    assert tables["history"] == run / "history.parquet" and "gender" in tables["by"]

    written = json.loads((run / "run.json").read_text()) | {"has_categories": False}
    (run / "run.json").write_text(json.dumps(written))
    assert load_run_record(run).tables(run)["items"] is None


def test_a_run_that_is_not_finished_cannot_be_asked(tmp_path: Path):
    run = small_run(tmp_path)
    written = json.loads((run / "run.json").read_text()) | {"finished": False}
    (run / "run.json").write_text(json.dumps(written))
    assert not load_run_record(run).finished
    with pytest.raises(InputError, match=r"training has not finished \(1 epochs done\)"):
        load_finished_record(run)


def test_a_table_that_is_gone_is_a_clear_error(tmp_path: Path):
    with pytest.raises(InputError, match=r"test\.parquet: cannot be read"):
        read_candidates(tmp_path / "test.parquet")


def test_no_torch_is_loaded_for_it():
    code = "import sys, fairrec.models.runs.loading; print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
