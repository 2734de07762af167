from __future__ import annotations

import polars as pl

from fairrec.inputs.memory_estimate import is_large
from fairrec.inputs.table_options import TableOptions


def test_large_is_what_is_stored_and_has_many_rows(tmp_path):
    table = pl.DataFrame({"user_id": range(500), "value": range(500)})
    file = str(tmp_path / "values.parquet")
    table.write_parquet(file)
    assert is_large(file, TableOptions(), rows=500)
    assert not is_large(file, TableOptions(), rows=501)
    assert not is_large(table, TableOptions(), rows=1)
    assert not is_large(None, TableOptions.of(values=None), rows=1)
    assert is_large(None, TableOptions.of(values=file), rows=100)
    table.write_csv(tmp_path / "values.csv")
    assert not is_large(tmp_path / "values.csv", TableOptions(), rows=1)


def test_tables_that_cannot_be_cut_are_read_whole(tmp_path):
    table = pl.DataFrame({"user_id": range(500), "item_id": range(500)})
    file, text = str(tmp_path / "rows.parquet"), str(tmp_path / "rows.csv")
    table.write_parquet(file)
    table.write_csv(text)
    assert is_large(file, TableOptions.of(test=file, history=file), rows=1)
    assert not is_large(file, TableOptions.of(test=text), rows=1)
    assert not is_large(file, TableOptions.of(history=text), rows=1)
    assert not is_large(file, TableOptions.of(test=table), rows=1)
    assert is_large(file, TableOptions.of(given="list_length:5|10"), rows=1)
    assert not is_large(file, TableOptions.of(given="list_length"), rows=1)
    assert not is_large(file, TableOptions.of(given=["history_length:q5"]), rows=1)
