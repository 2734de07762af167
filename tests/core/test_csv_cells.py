"""Text in CSV files that a spreadsheet would run."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.core.atomic_io import without_formulas, write_table

RUN = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "+1 2",
    "-1e",
    "--1",
    "@",
    "=",
]
KEPT = ["-", "+", "-1", "+3.5", "-.5", "-1e-3", "a=b", "", "'=1", " =1", "1-2", "u@b", None]


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum([*RUN])])
def test_formulas_become_text(kind):
    cells = without_formulas(pl.DataFrame({"id": pl.Series(RUN, dtype=pl.String).cast(kind)}))
    assert cells["id"].to_list() == [f"'{text}" for text in RUN]


def test_numbers_and_other_texts_stay_as_they_are():
    table = pl.DataFrame({"id": KEPT, "score": [-1.5] * len(KEPT), "n": range(len(KEPT))})
    assert without_formulas(table).equals(table)
    assert without_formulas(pl.DataFrame()).equals(pl.DataFrame())


def test_names_of_columns_are_text_too():
    assert without_formulas(pl.DataFrame({"=1": [1], "-2": [2]})).columns == ["'=1", "-2"]


def test_csv_is_written_so_and_parquet_as_it_is(tmp_path: Path):
    table = pl.DataFrame({"user_id": ["=1+1", "u2"], "score": [-0.5, 1.0]})
    write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "user_id,score\n'=1+1,-0.5\nu2,1.0\n"
    write_table(table, tmp_path / "t.parquet")
    assert pl.read_parquet(tmp_path / "t.parquet").equals(table)
