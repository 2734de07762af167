"""Harms from saved tables: those of the audit itself, for any limit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pytest import approx

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.gating.harms import difference_harms, harms_in, ratio_harms
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
    assert {"worse by more", "not worse by more", "inconclusive"} <= {*outcomes}


@pytest.mark.parametrize(("metric", "sign"), [("hits", -1), ("wait", 1)])
def test_a_harm_is_in_the_worse_direction(metric, sign):
    found, table = harms(metric), planted().group_table.filter(metric=metric)
    at = found.position({"gender": "F", "age": "56+"})
    assert found.size[at] == approx(sign * table["difference"][at])
    assert found.size[at] > 0.2
    assert found.interval.low[at] < found.size[at] < found.interval.high[at]


def test_either_way_a_difference_has_no_sign():
    one_way, either = harms("hits"), harms("hits", either_way=True)
    assert either.size == approx(np.abs(one_way.size))
    assert (either.interval.low >= 0).all()


def test_an_end_without_a_limit_has_none():
    table = planted().group_table.with_columns(simultaneous_high=pl.lit(None, pl.Float64))
    found = harms_in(table, ["gender", "age"], "wait", False, "difference", is_conclusive=True)
    assert np.isinf(found.interval.high).all() and np.isfinite(found.interval.low).all()


def test_a_group_without_a_change_stays_and_nothing_of_it_is_known():
    table = planted().group_table.rename({"difference": "change"})
    is_gone = pl.col("age") == "56+"
    gone = ("change", "simultaneous_low", "simultaneous_high", "is_beyond_chance", "is_known")
    table = table.with_columns(pl.when(~is_gone.fill_null(False)).then(name) for name in gone)
    found = harms_in(table, ["gender", "age"], "wait", False, "change", is_conclusive=True)
    at = found.position({"age": "56+"})
    assert np.isnan(found.size[at]) and not found.is_known[at]
    assert (found.interval.low[at], found.interval.high[at]) == (-np.inf, np.inf)
    assert found.outcomes(100.0)[at] == OPEN


def test_a_group_is_found_by_its_conditions_whatever_their_order():
    found = harms("hits")
    at = found.position({"age": "56+", "gender": "F"})
    assert found.label(at) == "gender=F, age=56+"
    assert found.depth[at] == 2 and found.depth[found.position({"gender": "F"})] == 1


@pytest.mark.parametrize(
    ("group", "says"),
    [
        ({"gendr": "F"}, "No attribute in this audit 'gendr'. Did you mean 'gender'"),
        ({"gender": "X"}, "No value of gender 'X'"),
    ],
)
def test_a_group_that_is_not_there_is_refused(group, says):
    with pytest.raises(UnknownNameError, match=says):
        harms("hits").position(group)


def test_a_group_that_was_too_small_is_refused():
    result = planted()
    table = result.group_table.filter(pl.col("depth") == 1)
    with pytest.raises(InputError, match="too small, has more attributes"):
        difference_harms(table, result.summary, "hits").position({"gender": "F", "age": "56+"})


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


def test_intervals_of_ratios_hold_for_all_groups_at_once():
    # the ratio of every group is 1 in every world
    import fairrec

    rng, missed = np.random.default_rng(1), 0
    for _ in range(40):
        n = 600
        users = pl.DataFrame({"user_id": range(n), "g": rng.integers(0, 6, n).astype(str)})
        values = pl.DataFrame({"user_id": range(n), "v": rng.gamma(2, 1, n)})
        result = fairrec.audit(
            values=values, users=users, by="g", better="v=higher", permutations=199
        )
        found = ratio_harms(result.group_table, result.summary, "v")
        missed += bool(((found.interval.low > 0) | (found.interval.high < 0)).any())
    assert missed <= 5


@pytest.mark.parametrize(
    ("metric", "update", "says"),
    [
        ("lean", {}, "no zero that means none of it"),
        ("clicks", {"higher_is_better": None}, "neither end of it is better"),
    ],
)
def test_ratios_that_say_nothing_are_refused(metric, update, says):
    result = planted()
    about = result.summary.metrics[metric].model_copy(update=update)
    summary = result.summary.model_copy(update={"metrics": {metric: about}})
    with pytest.raises(InputError, match=says):
        ratio_harms(result.group_table, summary, metric)
