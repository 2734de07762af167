from __future__ import annotations

from pathlib import Path

import polars as pl

from fairrec.inputs.table_options import TableOptions


def test_tables_are_paths_or_tables_and_lists_may_be_text():
    table = pl.DataFrame({"user_id": [1]})
    options = TableOptions(users="u.csv", items=table, by="gender,age:10", columns={"label": "y"})
    assert options.users == Path("u.csv")
    assert options.items is table
    assert options.by == ("gender", "age:10")
    assert options.columns == TableOptions.of(columns="label=y").columns == {"label": "y"}
    assert options.metrics is None
