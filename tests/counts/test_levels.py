"""test_levels"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.counts.levels import (
    find_level,
    kept_on,
    levels_of,
    levels_text,
    notes_on_levels,
    read_levels,
    steps_between,
    suggested_levels,
)
from fairrec.counts.merging import merged, split_families
from fairrec.counts.table import Counts, checked_rows, refuse_unlike, with_info
from fairrec.metrics.measured import Alike, Measured
from fairrec.metrics.parsing import parse_metric
from tests.counts.test_counting import SOME


def test_a_metric_with_bounds_is_cut_in_steps_that_are_finer_at_both_ends():
    (edges,) = levels_of([parse_metric("ndcg@5")], {}).values()
    assert len(edges) == 40 + 64 + 40
    assert (np.diff(edges) > 0).all()
    # the first step and the last are cut four times an octave
    values = np.array([0.0, 1 / 128, 1 / 64, 0.5, 63 / 64, 127 / 128, 0.999999, 1.0])
    assert find_level(values, edges).tolist() == [0, 37, 41, 72, 103, 107, 143, 144]


@pytest.mark.parametrize("mean", [0.0005, 0.5, 0.995])
def test_steps_keep_the_spread_of_metrics_that_are_near_a_bound(mean):
    values = np.random.default_rng(1).beta(1, (1 - mean) / mean, 5000)
    edges = steps_between(0.0, 1.0)
    equal = np.arange(1, 65) / 64
    assert kept_on(edges, values) > 0.985
    assert kept_on(edges, values) >= kept_on(equal, values)
    if mean < 0.01:
        assert kept_on(equal, values) < 0.7


def test_steps_are_finer_around_0_where_that_is_between_the_bounds():
    edges = steps_between(-100.0, 100.0)
    assert (np.diff(edges) > 0).all()
    assert edges[[0, -1]].tolist() == [-100.0, 100.0]
    assert kept_on(edges, np.random.default_rng(1).normal(0, 0.3, 5000)) > 0.99
    assert kept_on(edges, np.zeros(3)) == 1.0


def test_own_edges_take_the_place_of_steps_and_must_be_of_a_metric():
    own = {"auc": np.array([0.5])}
    assert levels_of([parse_metric("auc")], own)["auc"].tolist() == [0.5]
    with pytest.raises(InputError, match="ndcg"):
        levels_of([parse_metric("auc")], {"ndcg": np.array([0.5])})


@pytest.mark.parametrize("power", [1, 3])
def test_suggested_levels_keep_the_spread_of_a_long_tail(power):
    values = np.random.default_rng(0).exponential(1, 6400) ** power
    edges = np.array(suggested_levels(values))
    assert len(edges) < 64 + 14
    n = np.bincount(find_level(values, edges))
    assert n.max() <= 6400 / 32 + 1
    assert kept_on(edges, values) > 0.998
    # as many users on each level are not enough
    if power == 3:
        assert kept_on(np.quantile(values, np.arange(1, 64) / 64), values) < 0.9


@pytest.mark.parametrize(("n_group", "shift"), [(500, 0.2), (100, 0.4), (20, 1.0)])
def test_suggested_levels_tell_a_small_group_from_all_others_that_is_below_them(n_group, shift):
    values = np.random.default_rng(2).exponential(1, 10_000)
    values[:n_group] -= shift
    level = find_level(values, np.array(suggested_levels(values)))
    mean = np.bincount(level, values) / np.maximum(np.bincount(level), 1)
    left, whole = (row[:n_group].mean() - row.mean() for row in (mean[level], values))
    assert left / whole == pytest.approx(1.0, abs=0.05)


def test_levels_are_written_and_read(tmp_path):
    edges = suggested_levels(np.random.default_rng(0).exponential(1, 640))
    file = tmp_path / "levels.toml"
    file.write_text(levels_text({"revenue": edges, "a b": [1.0]}))
    found = read_levels(file)
    assert found["revenue"].tolist() == edges
    assert found["a b"].tolist() == [1.0]
    assert suggested_levels(np.array([np.nan])) == []
    assert suggested_levels(np.zeros(5)) == []


@pytest.mark.parametrize(
    "text",
    [
        "revenue = 3",
        "revenue = [3, 2]",
        "revenue = ['a']",
        "revenue = [1, inf]",
        "revenue = []",
    ],
)
def test_what_is_no_list_of_rising_numbers_is_refused(text, tmp_path):
    file = tmp_path / "levels.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=r"revenue = \[1, 10, 100\]"):
        read_levels(file)


def on_two_levels(distance: float, squares: float) -> Measured:
    """A hundred users on each of two levels, whose values are spread around the level's mean."""
    values = np.array([[0.5, 0.5 + distance]])
    alike = Alike(np.full((1, 2), 100.0), np.full((1, 2), squares), np.array([[0, 1]]))
    everyone = np.ones(2, dtype=bool)
    return Measured((parse_metric("auc"),), values, everyone, everyone, alike)


def test_levels_that_hide_some_of_the_spread_are_told():
    # .1 between levels and .1 around them: 1 of sqrt(2) is left
    (note,) = notes_on_levels(on_two_levels(0.2, 100 * 0.1**2), "here")
    assert "'auc'" in note
    assert "71%" in note


def test_levels_that_hide_most_of_it_are_refused_since_nothing_would_be_found():
    with pytest.raises(InputError, match=r"here: the levels of 'auc' keep 10%.*too little"):
        notes_on_levels(on_two_levels(0.02, 100 * 0.1**2), "here")


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


def by_another_tool(levels: list[str], squares: float = 0.0) -> Counts:
    """Two metrics of users at two places, the sums of squares as they are or a little more."""
    rows = pl.DataFrame(
        {
            "family": "auc,mrr",
            "gender": ["F", "F", "M", "M"],
            "level": levels * 2,
            "users": [30, 10, 10, 30],
            "auc": [30.0, 5.0, 10.0, 15.0],
            "auc^2": [30.0, 2.5 + squares, 10.0, 7.5 + squares],
            "mrr": [30.0, 2.5, 10.0, 7.5],
            "mrr^2": [30.0, 0.625, 10.0, 1.875],
        }
    )
    return with_info(Counts(rows, None), {})


@pytest.mark.parametrize("levels", [["first", "second"], ["1/3", "2/3"], ["9|9", "8|8"]])
def test_levels_that_another_tool_calls_anything_are_told_apart_by_their_sums(levels):
    apart = split_families(by_another_tool(levels)).rows
    assert apart.filter(family="auc")["level"].to_list() == ["144", "72", "144", "72"]
    assert apart.filter(family="mrr")["level"].to_list() == ["144", "56", "144", "56"]


def test_users_who_differ_on_a_level_cannot_be_put_on_others():
    with pytest.raises(InputError, match="users of one level differ in 'auc'"):
        split_families(by_another_tool(["first", "second"], squares=0.1))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (SOME.drop("users"), "no column 'users'"),
        (SOME.with_columns(users=pl.Series([1.5, 2.0])), "whole numbers"),
        (SOME.with_columns(family=pl.Series([None, "hit"])), "1 rows have no family"),
        (SOME.drop("hit^2"), "no sums of a metric"),
        (SOME.with_columns(hit=pl.Series(["a", "b"])), "'hit' must be numbers"),
        (SOME.with_columns(hit=pl.Series([float("nan"), 0.0])), "must be finite numbers"),
        (SOME.with_columns(pl.Series("hit^2", [None, 0.0])), "and empty in the same rows"),
        (SOME.with_columns(pl.Series("hit^2", [1.0, 0.0])), "cannot be the sums 3 of values and 1"),
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
