from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.counts.merging import merged, with_same_labels


def part(column: pl.Series, by: str = "age") -> fairrec.Counts:
    """Counts of users with these ages, half of whom clicked."""
    table = pl.DataFrame(
        {"user_id": np.arange(len(column)), "age": column, "clicked": np.arange(len(column)) % 2}
    )
    return fairrec.count(values=table, by=by, tables=fairrec.Tables(better="clicked=higher"))


def labels(counts: fairrec.Counts) -> list[str]:
    return counts.rows["age"].unique().sort().to_list()


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("age:10", ["[20, 30)", "[30, 40)"]),
        ("age:30|", ["<30", ">=30"]),
        ("age:20|30|40", ["[20, 30)", "[30, 40)"]),
    ],
)
def test_a_bin_is_one_group_whether_the_numbers_of_a_part_are_whole_or_not(by, expected):
    whole, others = (
        part(pl.Series(ages), by) for ages in ([21.0, 22, 35, 36], [21.5, 22, 35.5, 36])
    )
    assert labels(whole) != labels(others)
    for both in ([whole, others], [others, whole]):
        together = merged(both, disjoint=True)
        assert labels(together) == expected
        everyone = together.rows.filter(family="clicked").group_by("age").agg(pl.col("users").sum())
        assert everyone["users"].to_list() == [4, 4]


def test_bins_of_whole_numbers_keep_their_labels():
    ages = pl.Series([-5, 21, 22, 35])
    assert labels(merged([part(ages, "age:10")] * 2, disjoint=True)) == labels(part(ages, "age:10"))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2], [1.0, 2.5], ["1.0", "2.0", "2.5"]),
        ([True, False], ["true", "false"], ["False", "True"]),
        ([1, 2], ["1", "2b"], ["1", "2", "2b"]),
        ([1, 2], [None, None], ["(missing)", "1", "2"]),
    ],
)
def test_a_value_has_one_text_whatever_else_a_part_has(first, second, expected):
    one, other = part(pl.Series(first)), part(pl.Series(second, strict=False))
    for both in ([one, other], [other, one]):
        assert labels(merged(both, disjoint=True)) == expected


def test_what_is_unknown_in_one_part_does_not_change_what_values_are():
    known, unknown = part(pl.Series([1, 2])), part(pl.Series([None, None], dtype=pl.Int64))
    for one in with_same_labels([unknown, known]):
        assert one.info.attributes["age"].kind == "whole number"
