from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.datasets.raw_files import SHOWN, RawTable


def table(*values: str | None) -> RawTable:
    rows = pl.LazyFrame({"line": range(1, len(values) + 1), "a": values}, schema_overrides=TEXT)
    return RawTable(rows, "file.dat")


TEXT = {"a": pl.String}


def test_the_first_bad_line_is_named_and_all_are_counted():
    bad = table("ok", "", "ok", "", None)
    with pytest.raises(InputError, match=r"file\.dat, line 2: a '' is empty \(3 such lines\)"):
        bad.refuse_empty("a")
    table("ok").refuse_empty("a")


def test_a_long_value_is_cut():
    with pytest.raises(InputError) as caught:
        table("x" * 1000).refuse(pl.lit(True), "a", "is bad")
    assert "x" * (SHOWN - 1) + "..." in str(caught.value)
    assert "x" * (SHOWN + 1) not in str(caught.value)


def test_whole_numbers_are_taken_as_spreadsheets_write_them():
    assert table("6", "7.0", "8.00").whole_numbers("a").collect()["a"].to_list() == [6, 7, 8]
    with pytest.raises(InputError, match=r"line 2: a '6.5' is not a whole number"):
        table("6", "6.5").whole_numbers("a")
    assert table("6", "").whole_numbers("a", may_be_empty=True).collect()["a"].to_list() == [
        6,
        None,
    ]


@pytest.mark.parametrize("text", ["", "x", "nan", "inf"])
def test_what_is_no_decimal_number_is_refused(text):
    with pytest.raises(InputError, match=r"line 2: a .* is not a number"):
        table("1.5", text).decimals("a")


def test_repeated_and_unknown_values_are_refused():
    with pytest.raises(InputError, match="line 3: a 'u1' appears more than once"):
        table("u1", "u2", "u1").refuse_repeated("a")
    with pytest.raises(InputError, match=r"line 2: a 'u2' is not in users.dat"):
        table("u1", "u2").refuse_unknown("a", pl.Series(["u1"]), "users.dat")


def test_empty_texts_can_be_missing():
    assert table("", "b").empty_as_missing("a").collect()["a"].to_list() == [None, "b"]
