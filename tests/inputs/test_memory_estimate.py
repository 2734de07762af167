"""Tables that cannot fit into memory, and those that are read in parts."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.memory_estimate import (
    ALWAYS,
    LARGE,
    estimate_bytes,
    is_large,
    most_rows,
    refuse_large,
)
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table

ROWS = pl.DataFrame({"user_id": range(1000), "item_id": range(1000), "score": [0.5] * 1000})


def stored(folder: Path, name: str, table: pl.DataFrame = ROWS) -> Table:
    file = folder / name
    if file.suffix == ".parquet":
        table.write_parquet(file)
    else:
        table.write_csv(file)
    return Table(file, "predictions")


def test_rows_of_parquet_and_bytes_of_text_take_room_and_tables_in_memory_take_no_more(tmp_path):
    assert estimate_bytes(stored(tmp_path, "rows.parquet")) == 80_000
    text = stored(tmp_path, "rows.csv")
    assert estimate_bytes(text) == 4 * (tmp_path / "rows.csv").stat().st_size
    assert estimate_bytes(Table(ROWS, "predictions")) == 0


def test_a_list_is_more_than_one_row(tmp_path):
    lists = pl.DataFrame({"user_id": [1, 2], "item_id": [[*range(500)], [*range(500)]]})
    table = stored(tmp_path, "lists.parquet", lists)
    assert estimate_bytes(table) == 160 + 6 * (tmp_path / "lists.parquet").stat().st_size


def test_files_that_cannot_fit_are_refused_by_their_names(tmp_path):
    most = ALWAYS + 100_000
    refuse_large({"predictions": stored(tmp_path, "rows.parquet")}, most)
    several = {name: stored(tmp_path, f"{name}.parquet") for name in ("some", "more")}
    with pytest.raises(
        InputError, match=r"^Together the rows of some.parquet, more.parquet, read at once"
    ):
        refuse_large(several, most)
    with pytest.raises(InputError, match=r"^The rows of rows.csv, read at once, need about 0.3 GB"):
        refuse_large({"values": stored(tmp_path, "rows.csv", pl.concat([ROWS] * 3))}, most)


def test_fewer_rows_are_read_at_once_where_there_is_less_memory():
    assert most_rows(10**11) == LARGE
    assert most_rows(ALWAYS + 8_000) == 100


@pytest.mark.parametrize("name", ["users.parquet", "users.csv"])
def test_each_attribute_of_each_user_takes_room(tmp_path, name):
    users = stored(tmp_path, name)
    most = ALWAYS + int(estimate_bytes(users)) + 40 * 1_010 * 9
    refuse_large({"users": users}, most, n_attributes=10)
    with pytest.raises(InputError, match=r"name fewer attributes in by, or audit fewer users"):
        refuse_large({"users": users}, most, n_attributes=11)
    # others have none
    refuse_large({"predictions": users}, most, n_attributes=11)


def test_large_is_what_is_stored_and_has_many_rows(tmp_path):
    table = pl.DataFrame({"user_id": range(500), "value": range(500)})
    file = str(tmp_path / "values.parquet")
    table.write_parquet(file)
    assert is_large(file, TableOptions(), rows=500)
    assert not is_large(file, TableOptions(), rows=501)
    assert not is_large(table, TableOptions(), rows=1)
    assert not is_large(None, TableOptions(values=None), rows=1)
    assert is_large(None, TableOptions(values=file), rows=100)
    table.write_csv(tmp_path / "values.csv")
    assert not is_large(tmp_path / "values.csv", TableOptions(), rows=1)


def test_tables_that_cannot_be_cut_are_read_whole(tmp_path):
    table = pl.DataFrame({"user_id": range(500), "item_id": range(500)})
    file, text = str(tmp_path / "rows.parquet"), str(tmp_path / "rows.csv")
    table.write_parquet(file)
    table.write_csv(text)
    assert is_large(file, TableOptions(test=file, history=file), rows=1)
    assert not is_large(file, TableOptions(test=text), rows=1)
    assert not is_large(file, TableOptions(history=text), rows=1)
    assert not is_large(file, TableOptions(test=table), rows=1)
    assert is_large(file, TableOptions(adjust_for="list_length:5|10"), rows=1)
    assert not is_large(file, TableOptions(adjust_for="list_length"), rows=1)
    assert not is_large(file, TableOptions(adjust_for=["history_length:q5"]), rows=1)
