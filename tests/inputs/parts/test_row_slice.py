"""A piece of a table tells where its rows stand in the whole."""

from __future__ import annotations

import pickle
from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.formats import FileRows, RowSlice
from fairrec.inputs.tables import Table


def piece(folder: Path, first_row: int | None = 2) -> RowSlice:
    """Rows 3 and 4 of a table, by the name of another."""
    file = folder / "rows.parquet"
    pl.DataFrame({"user_id": ["1", "2", "3", None], "score": [1, 2, 3, 4]}).write_parquet(file)
    return RowSlice("all.parquet", folder / "all.parquet", (FileRows(file, 2, 4),), first_row)


def test_a_table_is_its_rows_under_the_name_of_the_whole(tmp_path: Path):
    table = Table(pickle.loads(pickle.dumps(piece(tmp_path))), "predictions")
    assert table.read({"score": "score"})["score"].to_list() == [3, 4]
    with pytest.raises(InputError, match=r"^all.parquet, row 4: column 'user_id' is empty"):
        table.read({"user_id": "user_id"})
    scattered = Table(piece(tmp_path, None), "predictions")
    with pytest.raises(InputError, match=r"^all.parquet: column 'user_id' is empty"):
        scattered.read({"user_id": "user_id"})


def test_no_rows_are_no_error_in_a_piece(tmp_path: Path):
    rows = piece(tmp_path).rows[0]
    nothing = RowSlice("all", tmp_path, (FileRows(rows.file, 0, 0),))
    assert Table(nothing, "test").read({"user_id": "user_id"}).height == 0


def test_user_ids_are_text_where_the_whole_table_says_so(tmp_path: Path):
    ids = pl.Series(["1.0", "2"])
    rows = piece(tmp_path).rows
    as_numbers = Table(RowSlice("all", tmp_path, rows), "test").user_keys(ids)
    as_text = Table(RowSlice("all", tmp_path, rows, is_text=True), "test").user_keys(ids)
    assert (as_numbers.to_list(), as_text.to_list()) == ([1, 2], ["1.0", "2"])


def test_folders_name_values(tmp_path: Path):
    rows = piece(tmp_path).rows[0]
    named = FileRows(rows.file, 0, 2, (("day", 7, True), ("site", None, False)))
    frame = named.scan().collect()
    assert frame["day"].to_list() == [7, 7]
    assert frame["site"].dtype == pl.String
