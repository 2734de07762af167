from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairrec.report.page.figures import group_chart
from fairrec.report.page.group_charts import density
from fairrec.report.page.vega import BETTER, GROUP, WORSE
from fairrec.report.page.view import GroupChart
from tests.report.figures.drawing import marks, page_view, svg


def drawn(chart: GroupChart) -> str:
    return svg(group_chart(chart).chart().properties(width=500))


def test_the_chart_of_the_page_is_valid_and_drawn():
    assert "<path" in svg(group_chart(page_view().charts[0]).chart())


def test_groups_are_points_or_hexagons_and_those_that_are_marked_are_points_in_both():
    chart = page_view().charts[0]
    marked = [point for point in chart.points if point.role != "group"]
    assert 0 < len(marked) < len(chart.points)
    rng = np.random.default_rng(0)
    ranges = chart.size_range, chart.value_range
    sizes, values = np.exp(rng.uniform(2.5, 5, 999)), rng.uniform(*chart.value_range, 999)
    dense = replace(chart, density=density(sizes, values, *ranges))

    points, hexagons = drawn(chart), drawn(dense)
    assert len(marks(points, "symbol")) == len(chart.points)
    assert marks(points, "line") == []
    assert len(marks(hexagons, "symbol")) == len(marked)
    assert len(marks(hexagons, "line")) == len(dense.density.cells) > 100


def test_colours_say_who_is_worse_and_nothing_where_no_end_is_better():
    chart = page_view().charts[0]
    point = next(point for point in chart.points if point.role == "worst end")
    for tone, colour in (("worse", WORSE), ("better", BETTER), ("neutral", GROUP)):
        alone = replace(chart, points=(replace(point, tone=tone, is_fully_scored=True),))
        assert [mark.get("fill") for mark in marks(drawn(alone), "symbol")] == [colour]
