"""A table in files is one table, wherever its rows are."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.formats import scan_rows
from fairrec.inputs.partition import Stored, is_stored
from fairrec.inputs.tables import Table


def stored(folder: Path, *lengths: int) -> Stored:
    """A table whose rows are numbered, in files of these lengths."""
    at = 0
    for number, length in enumerate(lengths):
        rows = pl.DataFrame({"row": range(at, at + length)}, schema={"row": pl.Int64})
        rows.write_parquet(folder / f"{number}.parquet", row_group_size=2)
        at += length
    return Stored.of(Table(folder, "predictions"))


def test_any_range_of_rows_is_found_over_borders_of_files(tmp_path: Path):
    table = stored(tmp_path, 3, 0, 4, 1)
    assert table.n_rows == 8
    for start in range(9):
        for stop in range(start, 9):
            rows = scan_rows(table.slice(table.rows(start, stop), False).rows).collect()
            assert rows["row"].to_list() == [*range(start, stop)]
            assert rows.schema == {"row": pl.Int64}


def test_tables_that_are_not_in_parquet_files_or_empty_are_refused(tmp_path: Path):
    (tmp_path / "a.csv").write_text("user_id\n1\n")
    assert not is_stored(Table(tmp_path / "a.csv", "predictions"))
    with pytest.raises(InputError, match="only these are read in parts"):
        Stored.of(Table(pl.DataFrame({"a": [1]}), "predictions"))
    (tmp_path / "a.csv").unlink()
    with pytest.raises(InputError, match="the table is empty"):
        stored(tmp_path, 0, 0)


def test_a_file_that_is_not_whole_is_refused(tmp_path: Path):
    stored(tmp_path, 3, 5)
    file = tmp_path / "1.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        Stored.of(Table(tmp_path, "predictions"))


def test_files_that_differ_are_refused_by_name(tmp_path: Path):
    stored(tmp_path, 3, 5)
    pl.DataFrame({"row": ["a"]}).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(InputError, match=r"'row' is Int64 in 0.parquet and String in 1.parquet"):
        Table(tmp_path, "predictions")
