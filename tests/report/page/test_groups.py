"""A group has one number and one role on the whole page."""

from __future__ import annotations

import pytest

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
