"""Value against size of the groups, and the funnel."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.page.build import build_page_view
from fairrec.report.page.group_charts import marks_in
from fairrec.report.page.view import PageLimits
from tests.builders import audit, make_tables, two_groups
from tests.report.page.planted_page import planted, view_of


def test_points_and_funnel_are_the_numbers_of_the_audit():
    predictions, users = two_groups(200)
    result = fairrec.audit(
        predictions,
        users=users,
        by="group",
        metrics="mrr",
        statistics=fairrec.Statistics(permutations=99),
    )
    (chart,) = view_of(result).charts
    assert {(point.label, point.size, point.value) for point in chart.points} == {
        ("group=even", 100, 1.0),
        ("group=odd", 100, 0.5),
    }
    assert chart.mean == 0.75
    metric = result.metrics["mrr@5"]
    # values are 1 and 0.5, half each: sd with n - 1, and the critical statistics of the test
    sd = 0.25 * np.sqrt(200 / 199)
    assert metric.sd == pytest.approx(sd)
    ((above, below),) = metric.critical_tails.values()
    for step in chart.funnel:
        error = sd * np.sqrt((200 - step.size) / (200 * step.size))
        assert step.high == pytest.approx(min(0.75 + above * error, 1), abs=1e-5)
        assert step.low == pytest.approx(0.75 - below * error, abs=1e-5)


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
        predictions,
        users=users,
        by="group",
        metrics="mrr,pooled_auc",
        statistics=fairrec.Statistics(permutations=0),
    )
    view = view_of(result)
    assert [chart.funnel for chart in view.charts] == [(), ()]
    assert {card.verdict.status for card in view.verdicts} == {"not tested"}
    assert view.summary == "Nothing was tested against chance."
    assert view.verdicts[0].scale is None


def test_many_groups_are_all_counted_and_those_that_are_marked_are_points():
    few = view_of(planted(), limits=PageLimits(points=40))
    for chart, whole in zip(few.charts, view_of(planted()).charts, strict=True):
        assert whole.density is None
        assert whole.note == ""
        # 171 groups a metric, room for 20: a choice of them would look like all
        assert sum(cell.n for cell in chart.density.cells) == len(whole.points) == 171
        assert (chart.size_range, chart.value_range) == (whole.size_range, whole.value_range)
        marked = {point.label for point in whole.points if point.role != "group"}
        assert marked <= {point.label for point in chart.points}
        assert chart.note.startswith("All 171 groups are drawn, as density.")
        most = max(cell.n for cell in chart.density.cells)
        assert "of 171 groups" in chart.alternative
        assert f"by how many groups lie there, 1 to {most}." in chart.alternative


def test_a_group_that_can_be_chosen_in_the_table_can_be_marked_in_the_chart():
    view = view_of(planted(), limits=PageLimits(points=40, rows=60))
    for chart in view.charts:
        rows = {row.group for row in view.table if row.metric == chart.metric}
        assert rows == {point.group for point in chart.points}


def test_the_axes_hold_every_group_and_all_of_the_funnel():
    for chart in view_of(planted()).charts:
        values = [point.value for point in chart.points]
        lowest = min(*values, *(step.low for step in chart.funnel))
        highest = max(*values, *(step.high for step in chart.funnel))
        air = 0.06 * (highest - lowest)
        # and nothing beyond what is possible
        top = min(1.0, highest + air) if max(values) + air <= 1 else highest + air
        assert chart.value_range == pytest.approx((lowest - air, top), rel=1e-4)
        # the funnel is drawn from below the smallest group, and is wider than all of them
        assert chart.funnel[0].size == pytest.approx(chart.size_range[0], rel=1e-5)
        assert chart.size_range[0] < min(point.size for point in chart.points)
        assert highest > max(values)
        assert highest <= 1


@pytest.mark.parametrize("is_signed", [False, True])
def test_nothing_is_drawn_below_what_values_start_at(is_signed):
    # values of 0 or 1, so that the funnel of small groups would reach below 0
    rng = np.random.default_rng(0)
    city, is_hit = rng.integers(0, 30, 900), rng.random(900) < 0.3
    values = pl.DataFrame(
        {
            "user_id": range(900),
            "city": city.astype(str),
            "m": is_hit - (1e-9 if is_signed else 0.0),
        }
    )
    result = fairrec.audit(
        values=values, by="city", statistics=fairrec.Statistics(permutations=99), min_support=1
    )
    assert result.metrics["m"].is_ratio_scale != is_signed
    (chart,) = view_of(result).charts
    assert min(point.value for point in chart.points) > 0.05
    lowest = min(step.low for step in chart.funnel)
    if is_signed:
        assert chart.value_range[0] < lowest < -0.02
    else:
        assert (chart.value_range[0], lowest) == (0, 0)


def test_a_group_at_the_lowest_value_has_its_mark_whole():
    noise = np.linspace(0.5, 1.5, 200)
    values = np.where(np.arange(200) % 2, noise, 0.0)
    table = pl.DataFrame({"user_id": range(200), "g": [*"ab"] * 100, "m": values})
    (chart,) = view_of(
        fairrec.audit(values=table, by="g", statistics=fairrec.Statistics(permutations=99))
    ).charts
    assert min(point.value for point in chart.points) == pytest.approx(0)
    assert chart.value_range[0] < -0.01


def directed(better: str | None):
    """The first of three groups has the largest values."""
    n = 300
    users = pl.DataFrame({"user_id": range(n), "group": ["a", "b", "c"] * (n // 3)})
    values = pl.DataFrame({"user_id": range(n), "m": [3.0, 2.0, 1.0] * (n // 3)})
    noise = np.random.default_rng(0).normal(0, 3, n)
    return fairrec.audit(
        values=values.with_columns(pl.col("m") + noise),
        users=users,
        by="group",
        tables=fairrec.Tables(better={"m": better} if better else None),
        statistics=fairrec.Statistics(permutations=99),
    )


@pytest.mark.parametrize(
    ("better", "highest", "lowest"),
    [
        ("higher", ("best end", "better", "up"), ("worst end", "worse", "down")),
        ("lower", ("worst end", "worse", "up"), ("best end", "better", "down")),
        (None, ("best end", "neutral", "up"), ("worst end", "neutral", "down")),
    ],
)
def test_marks_follow_the_direction_of_the_metric(better, highest, lowest):
    result = directed(better)
    # findings would hide the ends
    metric = result.metrics["m"].model_copy(update={"findings": ()})
    summary = result.summary.model_copy(update={"metrics": {"m": metric}})
    (chart,) = build_page_view(summary, result.group_table).charts
    high, _, low = sorted(chart.points, key=lambda point: -point.value)
    assert (high.role, high.tone, high.shape) == highest
    assert (low.role, low.tone, low.shape) == lowest
    words = [text for _, _, text in marks_in([chart])]
    assert all(("best" in text or "worst" in text) == (better is not None) for text in words)


@pytest.mark.parametrize(("better", "tones"), [("higher", -1), ("lower", 1), (None, 0)])
def test_findings_have_the_colour_of_their_end(better, tones):
    points = [p for p in view_of(directed(better)).charts[0].points if p.role == "finding"]
    assert points
    for point in points:
        side = tones * (1 if point.difference > 0 else -1)
        assert point.tone == {1: "worse", -1: "better", 0: "neutral"}[side]
        assert point.shape == "diamond"


def test_what_chance_shows_stays_within_what_is_possible():
    tables = make_tables(80)
    result = audit(tables.predictions, tables.users, "gender,age:3", metrics=["mrr@5"])
    about = result.metric("mrr@5")
    assert about.bounds == (0.0, 1.0)
    highest = []
    for update in ({}, {"bounds": None, "is_ratio_scale": False}):
        metrics = {"mrr@5": about.model_copy(update=update)}
        summary = result.summary.model_copy(update={"metrics": metrics})
        (chart,) = build_page_view(summary, result.group_table).charts
        highest.append(max(step.high for step in chart.funnel))
    assert highest[0] <= 1 < highest[1]
