"""Groups on the page: value against size, rows beside chance, hexagons."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.audit_result import AuditResult
from fairrec.report.page.build import build_page_view
from fairrec.report.page.group_charts import density, place_marks
from fairrec.report.page.groups import chance_band, others_of_fully_scored, ticks
from fairrec.report.page.html import lay_out
from fairrec.report.page.view import PageLimits
from fairrec.report.words import signed_with_interval
from fairrec.search.options import Search
from tests.builders import two_groups
from tests.report.items_audits import items_result
from tests.report.planted import planted, planted_result, view_of


def test_a_group_has_one_number_everywhere():
    view = view_of(planted())
    number = view.findings[0].group
    label = view.findings[0].label
    for part in (*view.findings, *view.side_by_side, *view.table):
        assert (part.group == number) == (part.label == label)
    for chart in (*view.charts,):
        assert [p.label for p in chart.points if p.group == number] == [label]


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
    words = [text for _, _, text in place_marks([chart])]
    assert all(("best" in text or "worst" in text) == (better is not None) for text in words)


AXES = (1.0, 1000.0), (-1.0, 2.0)


def scattered(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return 10 ** rng.uniform(0, 3, n), rng.uniform(-1, 2, n)


def test_every_group_is_counted_once():
    drawn = density(*scattered(5000), *AXES)
    assert sum(cell.n for cell in drawn.cells) == 5000
    assert len({(cell.size, cell.value) for cell in drawn.cells}) == len(drawn.cells) > 300


def test_a_group_is_counted_in_the_hexagon_with_the_nearest_centre():
    sizes, values = scattered(400)
    drawn = density(sizes, values, *AXES)
    x, y = np.log10(sizes) / drawn.width, values / drawn.height
    centre_x = np.log10([cell.size for cell in drawn.cells]) / drawn.width
    centre_y = np.array([cell.value for cell in drawn.cells]) / drawn.height
    # a regular hexagon one wide is 2 / sqrt(3) high
    away = np.hypot(x[:, None] - centre_x, (y[:, None] - centre_y) * 2 / np.sqrt(3))
    # no point of it is further from its centre than a corner
    assert away.min(axis=1).max() <= 1 / np.sqrt(3) + 1e-4
    counts = np.bincount(away.argmin(axis=1), minlength=len(drawn.cells))
    assert counts.tolist() == [cell.n for cell in drawn.cells]


@cache
def searched() -> AuditResult:
    return planted_result(search=Search("adaptive", budget_users="30%"))


def test_the_band_is_the_critical_score_times_the_error_of_a_difference():
    result = planted().metrics["auc"]
    n, others = np.array([50.0]), np.array([950.0])
    error = result.sd * np.sqrt(1 / 50 + 1 / 950)
    assert [*result.critical_tails] == [1, 2, 3]
    for depth, (above, below) in result.critical_tails.items():
        low, high = chance_band(result, n, others, depth)
        assert (low[0], high[0]) == pytest.approx((-below * error, above * error))
    widest = np.max([*result.critical_tails.values()], axis=0)
    low, high = chance_band(result, n, others)
    assert (high[0], -low[0]) == pytest.approx(tuple(widest * error))


def test_rows_and_funnel_show_the_same_chance():
    view = view_of(searched())
    plot, chart = view.dots[0], next(c for c in view.charts if c.metric == view.dots[0].metric)
    summary = searched().summary
    result = summary.metrics[plot.metric]
    sizes = np.array([step.size for step in chart.funnel_fully_scored])
    others = others_of_fully_scored(result, summary, sizes)
    low, _ = chance_band(result, sizes, others)
    drawn = np.array([step.low for step in chart.funnel_fully_scored])
    # the mean of all is nearer than that of the others
    assert result.mean - drawn == pytest.approx(-low * others / result.n_compared, rel=1e-3)


def test_groups_that_are_tested_by_their_own_errors_have_no_band_by_size():
    """A finding would else lie within what chance is said to show at its size."""
    n_users, n_items = 300, 60
    rng = np.random.default_rng(0)
    lists = [rng.permutation(n_items)[:5].tolist() for _ in range(n_users)]
    recommended = pl.DataFrame({"user_id": range(n_users), "item_id": lists})
    items = pl.DataFrame({"item_id": range(n_items), "kind": ["a", "b", "c"] * 20})
    of_items = fairrec.audit(
        recommended,
        items=items,
        tables=fairrec.Tables(side="items"),
        by="kind",
        statistics=fairrec.Statistics(permutations=99),
    )
    for result, is_drawn in ((planted(), True), (of_items, False)):
        view = view_of(result)
        assert all(metric.is_tested for metric in result.metrics.values())
        assert [bool(chart.funnel) for chart in view.charts] == [is_drawn] * len(view.charts)
        assert all((row.chance is not None) == is_drawn for dots in view.dots for row in dots.rows)
        page = lay_out(view)
        assert ("There is no funnel" in page) != is_drawn
        assert "Nothing was tested for significance" not in page


FOUND = {"gender": "F", "age": "65+"}


def test_the_plot_of_the_answer_comes_first_and_all_have_the_same_groups():
    view = view_of(planted())
    assert view.dots[0].metric == view.words.answer.table.columns[0]
    assert {plot.metric for plot in view.dots} == {"auc", "mrr@5"}
    assert {plot.direction for plot in view.dots} == {"higher is better"}
    rows = [[row.label for row in plot.rows] for plot in view.dots]
    by_one = planted().group_table.filter(metric="auc", depth=1)
    deeper = [f for f in planted().metrics["auc"].findings if len(f.group) > 1]
    assert rows[0] == rows[1] and len(rows[0]) == by_one.height + len(deeper)
    assert rows[0][:3] == ["gender=F", "gender=M", "age=18-24"]
    # those of several attributes come last, and of an attribute with many values all are folded
    assert rows[0][-1] == "gender=F, age=65+"
    folded = {row.label for row in view.dots[0].rows if row.is_folded}
    assert folded == {row for row in rows[0] if row.startswith("job=")}


def test_a_row_has_the_numbers_of_its_group():
    view = view_of(planted())
    for plot in view.dots:
        for row, group in ((plot.rows[0], {"gender": "F"}), (plot.rows[-1], FOUND)):
            found = planted().group_table.filter(metric=plot.metric, depth=len(group), **group)
            (about,) = found.rows(named=True)
            low, high = about["simultaneous_low"], about["simultaneous_high"]
            texts = signed_with_interval(about["difference"], low, high)
            assert (row.difference, row.interval) == texts
            # places are linear: the dot lies in its interval as its number does in the other
            share = (about["difference"] - low) / (high - low)
            assert (row.at - row.span[0]) / (row.span[1] - row.span[0]) == pytest.approx(
                share, abs=0.02
            )
        assert (plot.rows[-1].served, plot.rows[-1].verdict) == ("worse", "worse")


def test_where_none_is_significant_the_values_of_each_attribute_are_shown():
    rng = np.random.default_rng(3)
    users = pl.DataFrame(
        {
            "user_id": range(600),
            "g": rng.choice([*"abc"], 600, p=[0.6, 0.3, 0.1]),
            "h": rng.choice([*"xy"], 600),
            "m": rng.normal(size=600),
        }
    )
    result = fairrec.audit(
        values=users,
        by="g,h",
        tables=fairrec.Tables(better="m=higher"),
        statistics=fairrec.Statistics(permutations=99),
    )
    view = view_of(result)
    assert view.findings == ()
    (plot,) = view.dots
    assert [row.label for row in plot.rows] == ["g=a", "g=b", "g=c", "h=x", "h=y"]
    assert all(row.served == "" and row.marks == () for row in plot.rows)
    assert all(row.verdict == "inconclusive" for row in plot.rows)


def test_intervals_of_items_allow_for_other_users():
    assert "the items stay" in view_of(items_result()).dots_note
    assert "the items stay" not in view_of(planted()).dots_note


@pytest.mark.parametrize("size", [1e-9, 0.3, 7.0, 4e8])
def test_ticks_are_few_and_round(size):
    found = ticks(-size, size / 3)
    assert 2 <= len(found) <= 9
    assert 0.0 in found and min(found) >= -size and max(found) <= size / 3
    steps = np.diff(found)
    assert steps == pytest.approx(np.full(len(steps), steps[0]))
