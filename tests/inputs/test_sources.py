from __future__ import annotations

import polars as pl

from fairrec.inputs.frames import Role, Rows


def test_rows_give_the_columns_asked_for_under_new_names_and_as_they_are():
    rows = Rows.from_frame(pl.LazyFrame({"a": ["007"], "b": [1.5], "c": [True]}))
    assert rows.columns == ["a", "b", "c"]
    assert rows.kinds() == {"a": pl.String, "b": pl.Float64, "c": pl.Boolean}
    assert (rows.hint, rows.notes, rows.is_text) == ("", (), False)
    read = rows.read({"x": "b", "y": "a", "z": "a"}, dict.fromkeys("xyz", Role.NUMBER))
    assert read.to_dict(as_series=False) == {"x": [1.5], "y": ["007"], "z": ["007"]}
