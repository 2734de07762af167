from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.counts.foreign import with_info
from fairrec.counts.table import Counts, checked_rows, refuse_unlike
from tests.counts.test_table import SOME


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (SOME.drop("users"), "no column 'users'"),
        (SOME.drop("level"), "no column 'level'"),
        (SOME.with_columns(users=pl.Series([1.5, 2.0])), "whole numbers"),
        (SOME.with_columns(users=pl.Series([-1, 2])), "whole numbers"),
        (SOME.with_columns(users=pl.Series([None, 2])), "whole numbers"),
        (SOME.with_columns(family=pl.Series([None, "hit"])), "1 rows have no family"),
        (SOME.with_columns(users=0), "no users"),
        (SOME.drop("hit^2"), "no sums of a metric"),
        (SOME.with_columns(hit=pl.Series(["a", "b"])), "'hit' must be numbers"),
        (SOME.with_columns(hit=pl.Series([float("nan"), 0.0])), "no finite numbers"),
        (SOME.with_columns(users=pl.Series([2**63, 1], dtype=pl.UInt64)), "more users than"),
        (SOME.with_columns(users=pl.Series([2**60, 1])), "more users than"),
        (SOME.with_columns(level=pl.Series([["1"], ["0"]])), "'level' is List"),
        (SOME.with_columns(gender=pl.Series([b"F", b"M"])), "'gender' is Binary"),
        (SOME.rename({"gender": "missing"}), "'missing' is the column of who is missing"),
        (SOME.with_columns(level=pl.Series([None, "0"])), "values without a level"),
        (SOME.with_columns(hit=pl.Series([None, 0.0])), "must be empty in the same rows"),
        (SOME.with_columns(pl.Series("hit^2", [None, 0.0])), "must be empty in the same rows"),
        (SOME.with_columns(pl.Series("hit^2", [1.0, 0.0])), "no 3 users have the sum"),
        (SOME.with_columns(pl.Series("hit^2", [-3.0, 0.0])), "no 3 users have the sum"),
        (SOME.with_columns(hit=pl.Series([1e200, 0.0])), "no 3 users have the sum"),
    ],
)
def test_what_cannot_be_counts_is_refused(table, message):
    with pytest.raises(InputError, match=message):
        checked_rows(table, "counts.parquet")


def test_what_is_empty_or_no_number_is_unknown():
    rows = SOME.with_columns(gender=pl.Series(["", "M"]), age=pl.Series([float("nan"), 20.0]))
    checked = checked_rows(rows, "counts.parquet")
    assert checked.select("gender", "age").rows() == [(None, None), ("M", 20.0)]


def test_rows_that_are_not_what_is_said_of_them_are_refused():
    known = with_info(Counts(SOME, None), {})
    refuse_unlike(known.rows, known.info, "counts.parquet")
    for name in ("gender", "hit", "hit^2"):
        with pytest.raises(InputError, match="has no column"):
            refuse_unlike(known.rows.drop(name), known.info, "counts.parquet")
