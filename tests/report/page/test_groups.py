"""A group has one number and one role on the whole page."""

from __future__ import annotations

import polars as pl
import pytest

import fairrec
from tests.builders import one_each
from tests.grouped_options import group_options
from tests.report.page.planted_page import planted, view_of


def test_ends_and_findings_are_marked():
    chart = view_of(planted()).charts[0]
    roles = {point.role: point for point in chart.points}
    metric = planted().metrics["auc"]
    assert roles["best end"].value == pytest.approx(metric.advantaged.value, rel=1e-5)
    assert roles["worst end"].mark == "worst"
    assert roles["finding"].label == "gender=F, age=65+"


def test_a_group_has_one_number_everywhere():
    view = view_of(planted())
    number = view.findings[0].group
    label = view.findings[0].label
    for part in (*view.findings, *view.side_by_side, *view.table):
        assert (part.group == number) == (part.label == label)
    for chart in (*view.charts,):
        assert [p.label for p in chart.points if p.group == number] == [label]


def test_of_few_full_combinations_each_is_at_one_end_at_most():
    ranks = {f"{value}{i}": value for value in (1, 2, 3) for i in range(10)}
    users = pl.DataFrame({"user_id": [*ranks], "group": [user[0] for user in ranks]})
    options = {"users": users, "by": "group", "metrics": "mrr", "permutations": 0}
    # the best two of three, and the worst two: the second is at both ends
    (chart,) = view_of(fairrec.audit(one_each(ranks), **group_options(top=2, **options))).charts
    ends = {point.label: point.role for point in chart.points}
    assert (ends["group=1"], ends["group=3"]) == ("best end", "worst end")
    # all are alike: none is at an end
    (chart,) = view_of(
        fairrec.audit(one_each(dict.fromkeys(ranks, 2)), **group_options(**options))
    ).charts
    assert {point.role for point in chart.points} == {"group"}
    assert "full combination" not in chart.alternative
