"""Harms from saved tables: those of the audit itself, for any limit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pytest import approx

from fairrec.auditing.harms import difference_harms, ratio_harms, read_harms
from fairrec.statistics.verdict import OPEN, outcome_names
from tests.gating.judged_world import planted


def harms(metric: str, **options):
    result = planted()
    return difference_harms(result.group_table, result.summary, metric, **options)


def test_with_what_matters_as_the_limit_outcomes_are_those_of_the_audit():
    found = harms("hits")
    outcomes = [outcome_names(True)[at] for at in found.outcomes(0.03)]
    table = planted().group_table.filter(metric="hits")
    assert outcomes == table["outcome"].to_list()
    assert {"worse beyond tolerance", "within tolerance", "inconclusive"} <= {*outcomes}


@pytest.mark.parametrize(("metric", "sign"), [("hits", -1), ("wait", 1)])
def test_a_harm_is_in_the_worse_direction(metric, sign):
    found, table = harms(metric), planted().group_table.filter(metric=metric)
    at = found.position({"gender": "F", "age": "56+"})
    assert found.size[at] == approx(sign * table["difference"][at])
    assert found.size[at] > 0.2
    assert found.interval.low[at] < found.size[at] < found.interval.high[at]


def test_a_group_without_a_change_stays_and_nothing_of_it_is_known():
    table = planted().group_table.rename({"difference": "change"})
    is_gone = pl.col("age") == "56+"
    gone = ("change", "simultaneous_low", "simultaneous_high", "is_beyond_chance", "is_known")
    table = table.with_columns(pl.when(~is_gone.fill_null(False)).then(name) for name in gone)
    found = read_harms(table, ["gender", "age"], "wait", False, "change", is_conclusive=True)
    at = found.position({"age": "56+"})
    assert np.isnan(found.size[at]) and not found.is_known[at]
    assert (found.interval.low[at], found.interval.high[at]) == (-np.inf, np.inf)
    assert found.outcomes(100.0)[at] == OPEN


def test_a_ratio_is_that_of_means_and_its_interval_is_a_little_wider_than_one_of_certain_others():
    result = planted()
    found = ratio_harms(result.group_table, result.summary, "hits")
    of_difference = harms("hits")
    table = result.group_table.filter(metric="hits")
    others = (table["value"] - table["difference"]).to_numpy()
    assert 1 - found.size == approx(table["value"].to_numpy() / others)
    certain = of_difference.interval.high / others
    assert (found.interval.high >= certain - 1e-12).all()
    assert found.interval.high == approx(certain, abs=0.05)
    assert (found.interval.low <= of_difference.interval.low / others + 1e-12).all()


def test_where_less_is_better_the_others_have_a_share_of_the_group():
    result = planted()
    found = ratio_harms(result.group_table, result.summary, "wait")
    at = found.position({"gender": "F", "age": "56+"})
    table = result.group_table.filter(metric="wait")
    others = table["value"][at] - table["difference"][at]
    assert 1 - found.size[at] == approx(others / table["value"][at])
    assert 0.55 < 1 - found.size[at] < 0.75
    assert found.interval.low[at] < found.size[at] < found.interval.high[at]
