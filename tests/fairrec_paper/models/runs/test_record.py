"""What is written down about a run, read without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.models.runs import (
    load_finished_record,
    load_run_record,
    read_candidates,
    read_items,
)
from tests.fairrec_paper.models.runs.small_run import small_run


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


@pytest.mark.slow
def test_no_torch_is_loaded_for_it():
    code = "import sys, fairrec_paper.models.runs; print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda table: table.drop("label"), "'label' is not there"),
        (lambda table: table.explode("item_id", "label"), "'item_id' is"),
        (lambda table: table.with_columns(pl.col("label").list.head(1)), "items have no label"),
    ],
)
def test_candidates_that_are_none_are_refused(tmp_path: Path, change: Any, says: str):
    table = pl.DataFrame({"user_id": [1], "item_id": [[1, 2]], "label": [[0, 1]]})
    table.write_parquet(tmp_path / "test.parquet")
    assert read_candidates(tmp_path / "test.parquet").equals(table)
    change(table).write_parquet(tmp_path / "test.parquet")
    with pytest.raises(InputError, match=says):
        read_candidates(tmp_path / "test.parquet")


def test_items_whose_categories_are_no_lists_are_refused(tmp_path: Path):
    items = pl.DataFrame({"item_id": [1], "categories": [["a"]]})
    for table in (items, items.drop("categories")):
        table.write_parquet(tmp_path / "items.parquet")
        assert read_items(tmp_path).equals(table)
    items.explode("categories").write_parquet(tmp_path / "items.parquet")
    with pytest.raises(InputError, match="'categories' is String there"):
        read_items(tmp_path)
