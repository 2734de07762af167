"""Value against size of the groups, and the funnel."""

from __future__ import annotations

import numpy as np
import pytest

import fairrec
from tests.builders import two_groups
from tests.report.page.planted_page import planted, view_of


def test_points_and_funnel_are_the_numbers_of_the_audit():
    predictions, users = two_groups(200)
    result = fairrec.audit(predictions, users=users, by="group", metrics="mrr", permutations=99)
    (chart,) = view_of(result).charts
    assert {(point.label, point.size, point.value) for point in chart.points} == {
        ("group=even", 100, 1.0),
        ("group=odd", 100, 0.5),
    }
    assert chart.mean == 0.75
    metric = result.metrics["mrr@5"]
    # values are 1 and 0.5, half each: sd with n - 1, and the critical statistic of the test
    sd = 0.25 * np.sqrt(200 / 199)
    assert metric.sd == pytest.approx(sd)
    for step in chart.funnel:
        reach = metric.critical * sd * np.sqrt((200 - step.size) / (200 * step.size))
        assert step.high - 0.75 == pytest.approx(reach, abs=1e-5)
        assert 0.75 - step.low == pytest.approx(reach, abs=1e-5)


def test_the_funnel_parts_the_groups_that_chance_explains_from_the_others():
    for chart in view_of(planted()).charts:
        sizes = [step.size for step in chart.funnel]
        ends = [[getattr(step, end) for step in chart.funnel] for end in ("low", "high")]
        checked = n_beyond = 0
        for point in chart.points:
            low, high = (np.interp(point.size, sizes, end) for end in ends)
            reach = (high if point.value > chart.mean else low) - chart.mean
            away = (point.value - chart.mean) / reach
            if abs(away - 1) < 0.03:
                continue  # the funnel is drawn through a few sizes only
            # a group that varies more than others may lie beyond it and not be shown to differ
            assert away > 1 or point.p_adjusted > 0.05, point
            n_beyond += away > 1
            checked += 1
        assert n_beyond > 0
        assert checked > 100


def test_untested_and_pooled_metrics_have_no_funnel():
    predictions, users = two_groups(40)
    result = fairrec.audit(
        predictions, users=users, by="group", metrics="mrr,pooled_auc", permutations=0
    )
    view = view_of(result)
    assert [chart.funnel for chart in view.charts] == [(), ()]
    assert {card.verdict.status for card in view.verdicts} == {"not tested"}
    assert view.summary == "Nothing was tested against chance."
    assert view.verdicts[0].scale is None
