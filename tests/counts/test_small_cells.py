from __future__ import annotations

import polars as pl
import pytest

import fairrec
from fairrec.counts.selection import without_small_cells
from fairrec.inputs.users import OTHER
from tests.counts.small_counts import counts_of, tables
from tests.grouped_options import group_options

KEYS = ["gender", "age", "country"]


def cells(counts):
    family = ",".join(counts.info.families[0])
    return counts.rows.filter(family=family).group_by(KEYS).agg(pl.col("users").sum())


@pytest.mark.parametrize("least", [5, 20, 60, 400])
def test_no_cell_is_smaller_and_nobody_is_dropped(least):
    counts = counts_of(tables())
    shown = without_small_cells(counts, least)
    assert cells(shown)["users"].min() >= least
    for column in ("users", "auc", "ndcg@5^2"):
        assert shown.rows[column].sum() == pytest.approx(counts.rows[column].sum())
    n_small = cells(counts).filter(pl.col("users") < least)["users"].sum()
    assert shown.info.n_merged == n_small
    assert shown.info.min_shown == least
    for name in counts.info.missing:
        mine, its = (one.rows.filter(family=name) for one in (counts, shown))
        assert mine["missing"].sum() == its["missing"].sum()


def test_the_attribute_with_most_values_is_given_up_first():
    shown = without_small_cells(counts_of(tables()), 20)
    merged = cells(shown).filter(pl.any_horizontal(pl.col(KEYS) == OTHER))
    # countries are four with the unknown, ages four, genders two: these are kept
    assert (merged["gender"] != OTHER).any()


def test_nothing_is_merged_where_nothing_is_small_or_asked_for():
    counts = counts_of(tables())
    assert without_small_cells(counts, None) is counts
    assert without_small_cells(counts, 1).rows.equals(counts.rows)
    assert without_small_cells(counts, 1).info.warnings == counts.info.warnings


def test_an_audit_says_that_cells_were_merged():
    counts = fairrec.count(**group_options(**tables(), min_shown=20))
    result = fairrec.audit(counts=counts, statistics=fairrec.Statistics(permutations=0))
    assert any("merged into '(other)'" in note for note in result.summary.warnings)


def test_everyone_may_end_in_one_cell():
    shown = without_small_cells(counts_of(tables()), 10_000)
    assert cells(shown).select(KEYS).row(0) == (OTHER,) * 3
