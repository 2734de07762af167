"""A column of numbers as a metric."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.inputs.side_data import SideData
from fairrec.metrics.parsing import parse_metric
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.value_columns import metric_of_column
from tests.metrics.metric_lists import per_user, ranked_lists, user


def column(name: str, **better: bool):
    return metric_of_column(name, better, "v.csv")


def test_a_name_with_brackets_brings_what_they_ask_for():
    assert column("share@5[pay=high]").called == "places for pay=high"
    assert column("ndcg@10").called == parse_metric("ndcg@10").called


def test_its_values_are_those_of_the_column():
    lists = ranked_lists([user([]), user([])])
    side = SideData(values={"watch": np.array([2.0, np.nan]), "other": np.zeros(2)})
    found = per_user(column("watch"), RankedLists(lists.candidates, 0, side))
    np.testing.assert_array_equal(found, [2, np.nan])


@pytest.mark.parametrize(
    ("name", "better", "higher_is_better", "bounds"),
    [
        ("watch", {}, None, None),
        ("watch", {"watch": False}, False, None),
        ("watch", {"churn": False}, None, None),
        ("ndcg@10", {}, True, (0, 1)),
        ("urp_abs@5", {}, False, (0, 100)),
        ("urp@5", {"urp@5": True}, True, (-100, 100)),
        # an audit writes a cut-off, and `AUC` in small letters
        ("ndcg", {}, None, None),
        ("AUC", {}, None, None),
        ("auc", {}, True, (0, 1)),
        ("auc@5", {}, None, None),
    ],
)
def test_a_name_that_an_audit_writes_brings_its_direction_and_bounds(
    name, better, higher_is_better, bounds
):
    found = column(name, **better)
    assert (found.name, found.k) == (name, None)
    assert found.metric.higher_is_better is higher_is_better
    assert found.metric.bounds == bounds
    assert found.metric.needs == frozenset()


def test_it_says_where_it_came_from_and_what_it_is():
    assert column("watch").metric.definition == "Column 'watch' of v.csv."
    definition = column("hit@3").metric.definition
    assert definition == (
        "Column 'hit@3' of v.csv. 1 when at least one of the first k items is relevant, 0 "
        "otherwise."
    )
