"""Charts as they are drawn."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from fairrec.core.errors import InputError
from fairrec.report.page.figures import (
    FADED,
    certificate_curve,
    correlation_map,
    group_chart,
    pair_heat_map,
    search_history,
)
from fairrec.report.page.group_charts import density
from fairrec.report.page.vega import (
    BETTER,
    DIVERGING,
    DIVERGING_NEUTRAL,
    GROUP,
    STILL_INK,
    STILL_STYLES,
    WIDTH,
    WORSE,
    need_figures,
)
from fairrec.report.page.view import Certificate, GroupChart, PairMap
from fairrec.statistics.verdict import CertifiedSize
from tests.report.drawing import marks, page_view, svg


def certificate(*steps: tuple[int, float], tolerance: float | None = None) -> Certificate:
    parts = tuple(CertifiedSize(support=size, harm=harm, n_groups=3) for size, harm in steps)
    return Certificate("auc", "ruled-out-0", parts, 5000, tolerance, "harm", "users", "words", ())


def test_the_curve_is_valid_and_drawn_with_and_without_what_matters():
    steps = ((10, 0.5), (100, 0.2), (1000, 0.1))
    assert "#d1603d" not in svg(certificate_curve(certificate(*steps)).chart())
    assert "#d1603d" in svg(certificate_curve(certificate(*steps, tolerance=0.3)).chart())


def test_a_step_holds_from_its_size_to_the_next_and_the_last_for_all_larger_groups():
    figure = certificate_curve(certificate((10, 0.5), (100, 0.2)))
    assert [(row["size"], row["harm"]) for row in figure.data["steps"]] == [
        (10, 0.5),
        (100, 0.2),
        (5000, 0.2),
    ]
    assert {
        layer["mark"]["interpolate"]
        for layer in figure.spec["layer"]
        if layer["mark"]["type"] in ("line", "area")
    } == {"step-after"}


def test_the_specification_is_the_chart_without_its_data():
    figure = group_chart(page_view().charts[0])
    whole = figure.chart().to_dict()
    assert whole.pop("datasets") == {name: list(rows) for name, rows in figure.data.items()}
    # by itself a chart has the colours that the page sets by its theme
    config = whole.pop("config")
    assert config.pop("style") == STILL_STYLES
    assert config.pop("legend") == {"symbolFillColor": STILL_INK}
    # the size of a chart that says none, which Altair writes into each
    assert [*config] == ["view"]
    assert {**figure.spec, "width": WIDTH} == whole


@pytest.mark.slow
def test_the_page_draws_without_the_extra_for_pictures():
    code = (
        "import sys\n"
        "from fairrec.report.page.html import lay_out\n"
        "from tests.report.drawing import page_view\n"
        "assert 'vegaEmbed' in lay_out(page_view())\n"
        "assert not {'altair', 'vl_convert'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def drawn_groups(chart: GroupChart) -> str:
    return svg(group_chart(chart).chart().properties(width=500))


def test_groups_are_points_or_hexagons_and_those_that_are_marked_are_points_in_both():
    chart = page_view().charts[0]
    marked = [point for point in chart.points if point.role != "group"]
    assert 0 < len(marked) < len(chart.points)
    rng = np.random.default_rng(0)
    ranges = chart.size_range, chart.value_range
    sizes, values = np.exp(rng.uniform(2.5, 5, 999)), rng.uniform(*chart.value_range, 999)
    dense = replace(chart, density=density(sizes, values, *ranges))

    points, hexagons = drawn_groups(chart), drawn_groups(dense)
    assert len(marks(points, "symbol")) == len(chart.points)
    assert marks(points, "line") == []
    assert len(marks(hexagons, "symbol")) == len(marked)
    assert len(marks(hexagons, "line")) == len(dense.density.cells) > 100


def test_colours_say_who_is_worse_and_nothing_where_no_end_is_better():
    chart = page_view().charts[0]
    point = next(point for point in chart.points if point.role == "worst end")
    for tone, colour in (("worse", WORSE), ("better", BETTER), ("neutral", GROUP)):
        alone = replace(chart, points=(replace(point, tone=tone, is_fully_scored=True),))
        assert [mark.get("fill") for mark in marks(drawn_groups(alone), "symbol")] == [colour]


def a_map(**changes: object) -> PairMap:
    """One pair whose first cell is a finding and beyond chance, all others are not."""
    view = page_view().pairs[0]
    cells = tuple(
        replace(cell, is_finding=at == 0, is_faded=at > 0, text=f"{at + 100}")
        for at, cell in enumerate(view.cells)
    )
    return replace(view, cells=cells, **changes)


def drawn_map(view: PairMap, width: int = 900) -> str:
    return svg(pair_heat_map(view).chart().properties(width=width))


def test_cells_inside_chance_are_faded_and_findings_outlined():
    view = a_map()
    cells = marks(drawn_map(view), "rect")
    faded = [cell for cell in cells if cell.get("fill-opacity") == f"{FADED}"]
    assert len(faded) == len(view.cells) - 1
    (outline,) = (cell for cell in cells if cell.get("stroke") == "#222222")
    assert outline.get("stroke-width") == "2"


def test_numbers_are_printed_where_they_fit():
    view = a_map()
    wide, narrow = drawn_map(view), drawn_map(view, 15 * len(view.columns))
    for cell in view.cells:
        assert f">{cell.text}<" in wide
        assert f">{cell.text}<" not in narrow


def test_a_metric_without_a_better_end_has_no_colour_of_better_or_worse():
    def colours(is_neutral: bool) -> list[str]:
        view = a_map(ramp=replace(a_map().ramp, is_neutral=is_neutral))
        spec = pair_heat_map(view).spec
        return spec["layer"][0]["encoding"]["color"]["scale"]["range"]

    assert colours(False) == [*DIVERGING]
    assert colours(True) == [*DIVERGING_NEUTRAL]
    assert not {*DIVERGING} & {*DIVERGING_NEUTRAL}


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_without_the_extra_it_is_said_what_to_install(package, monkeypatch):
    need_figures()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"needs {package}: pip install 'fairrec\[figures\]'"):
        need_figures()


@pytest.mark.parametrize(
    "draw",
    [
        lambda view: group_chart(view.charts[0]),
        lambda view: pair_heat_map(view.pairs[0]),
        lambda view: correlation_map(view.correlation),
        lambda view: search_history(view.histories[0]),
    ],
    ids=["groups", "pairs", "correlation", "search"],
)
def test_the_charts_of_the_page_are_valid_and_drawn(draw):
    assert "<path" in svg(draw(page_view()).chart())
