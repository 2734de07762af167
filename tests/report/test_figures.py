"""Charts as they are drawn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.report.audit_result import AuditResult
from fairrec.report.page.figures import (
    FADED,
    color_range,
    group_chart,
    pair_map,
    rank_pairs,
    ruled_out_curve,
    search_history,
)
from fairrec.report.page.vega import (
    BETTER,
    DIVERGING,
    DIVERGING_NEUTRAL,
    GROUP,
    INK_STYLE,
    STILL_INK,
    WIDTH,
    WORSE,
    Figure,
    need_figures,
)
from fairrec.report.words import value_order
from fairrec.statistics.verdict import CertifiedSize
from tests.report.drawing import marks, searched_groups, svg
from tests.report.planted import groups_of, planted


def curve(*steps: tuple[int, float], tolerance: float | None = None) -> Figure:
    parts = tuple(CertifiedSize(support=size, harm=harm, n_groups=3) for size, harm in steps)
    metric = planted().metrics["auc"]
    verdict = metric.verdict.model_copy(update={"tolerance": tolerance})
    metrics = {**planted().metrics, "auc": metric.model_copy(update={"verdict": verdict})}
    groups = groups_of(planted())
    groups.summary = planted().summary.model_copy(update={"metrics": metrics})
    return ruled_out_curve(groups, "auc", parts)


def test_the_curve_is_drawn_with_and_without_a_tolerance():
    steps = ((10, 0.5), (100, 0.2), (1000, 0.1))
    assert WORSE not in svg(curve(*steps).chart())
    assert WORSE in svg(curve(*steps, tolerance=0.3).chart())


def test_a_step_holds_from_its_size_to_the_next_and_the_last_for_all_larger_groups():
    figure = curve((10, 0.5), (100, 0.2))
    largest = planted().group_table["support"].max()
    assert [(row["size"], row["harm"]) for row in figure.data["steps"]] == [
        (10, 0.5),
        (100, 0.2),
        (largest, 0.2),
    ]
    assert {
        layer["mark"]["interpolate"]
        for layer in figure.spec["layer"]
        if layer["mark"]["type"] in ("line", "area")
    } == {"step-after"}


def test_the_specification_is_the_chart_without_its_data():
    figure = group_chart(groups_of(planted()), "auc")
    whole = figure.chart().to_dict()
    assert whole.pop("datasets") == {name: list(rows) for name, rows in figure.data.items()}
    # by itself a chart has the colours that the page sets by its theme
    config = whole.pop("config")
    assert config.pop("style") == {INK_STYLE: {"color": STILL_INK}}
    # the size of a chart that says none, which Altair writes into each
    assert [*config] == ["view"]
    assert {**figure.spec, "width": WIDTH} == whole


@pytest.mark.slow
def test_the_page_draws_without_the_extra_for_pictures():
    code = (
        "import sys\n"
        "from tests.report.planted import page_of, planted\n"
        "assert 'vegaEmbed' in page_of(planted())\n"
        "assert not {'altair', 'vl_convert'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_group_is_a_point_and_a_finding_is_orange_or_blue():
    figure = group_chart(groups_of(planted()), "auc")
    points = figure.data["points"]
    assert len(points) == planted().group_table.filter(metric="auc").height
    drawn = marks(svg(figure.chart().properties(width=500)), "symbol")
    assert len(drawn) == len(points)
    assert sorted({mark.get("fill") for mark in drawn}) == sorted({GROUP, WORSE})
    (found,) = [point for point in points if point["direction"]]
    assert (found["label"], found["size"], found["direction"]) == ("gender=F, age=65+", 61, "worse")
    finding = planted().metrics["auc"].findings[0]
    assert found["value"] == pytest.approx(finding.value, rel=1e-5)


@pytest.mark.parametrize(
    ("better", "colour"), [("higher", BETTER), ("lower", WORSE), (None, GROUP)]
)
def test_colours_follow_the_direction_of_the_metric(better, colour):
    points = group_chart(groups_of(of_values(better, sign=-1)), "hurt").data["points"]
    served = {point["direction"] for point in points if point["label"] == "b=1, c=2"}
    assert served == {{BETTER: "better", WORSE: "worse", GROUP: "differs"}[colour]}


def test_after_a_search_rings_are_groups_known_from_the_sample():
    groups = searched_groups()
    points = group_chart(groups, "auc").data["points"]
    assert {point["known"] for point in points} == {"fully scored", "from a sample"}
    history = groups.summary.search.metrics["auc"].history
    figure = search_history("auc", history, groups.summary.unit)
    users = [step["users"] for step in figure.data["steps"]]
    assert users == sorted(users)
    assert figure.data["steps"][-1]["gap"] == pytest.approx(groups.summary.metrics["auc"].gap)
    assert "<path" in svg(figure.chart())


def of_values(better: str | None, sign: int = 1) -> AuditResult:
    """The second metric is off for one combination of the last two attributes."""
    n = 3000
    rng = np.random.default_rng(0)
    codes = {name: rng.integers(0, 4, n) for name in "abc"}
    is_hurt = (codes["b"] == 1) & (codes["c"] == 2)
    values = {
        "calm": rng.normal(0, 1, n),
        "hurt": rng.normal(0, 1, n) - sign * 2 * is_hurt,
    }
    return fairrec.audit(
        values=pl.DataFrame({"user_id": np.arange(n), **values}),
        users=pl.DataFrame({"user_id": np.arange(n), **codes}),
        by=["a", "b", "c"],
        tables=fairrec.Tables(better=dict.fromkeys(values, better) if better else None),
        statistics=fairrec.Statistics(permutations=99),
    )


def a_map(better: str | None = "higher") -> Figure:
    groups = groups_of(of_values(better))
    (first, *_) = rank_pairs(groups)
    # the attributes of the worst finding
    assert first == ("b", "c")
    return pair_map(groups, "hurt", first, groups.pairs("hurt")[first])


def test_a_map_outlines_findings_and_fades_what_is_not_significant():
    figure = a_map()
    cells = figure.data["cells"]
    assert len(cells) == 16
    assert [cell["label"] for cell in cells if cell["is_finding"]] == ["b=1, c=2"]
    wide = svg(figure.chart().properties(width=900))
    drawn = marks(wide, "rect")
    n_faded = sum(cell["is_faded"] for cell in cells)
    assert len([one for one in drawn if one.get("fill-opacity") == f"{FADED}"]) == n_faded > 0
    (outline,) = (one for one in drawn if one.get("stroke") == STILL_INK)
    assert outline.get("stroke-width") == "2"
    # numbers stand where they fit
    narrow = svg(figure.chart().properties(width=60))
    for cell in cells:
        assert f">{cell['text']}<" in wide and f">{cell['text']}<" not in narrow


@pytest.mark.parametrize(
    ("better", "colours"),
    [("higher", DIVERGING), ("lower", DIVERGING[::-1]), (None, DIVERGING_NEUTRAL)],
)
def test_the_colours_of_a_map_follow_the_direction(better, colours):
    scale = a_map(better).spec["layer"][0]["encoding"]["color"]["scale"]
    assert scale["range"] == [*colours]
    assert not {*DIVERGING} & {*DIVERGING_NEUTRAL}


def test_colours_end_at_the_largest_significant_difference_of_all_maps():
    groups = groups_of(of_values("higher"))
    rows = groups.of_metric["hurt"].filter(pl.col("depth") == 2, pl.col("p_adjusted") <= 0.05)
    assert color_range(groups, "hurt") == rows["difference"].abs().max()
    # without any at the largest
    rows = groups.of_metric["calm"].filter(pl.col("depth") == 2)
    assert color_range(groups, "calm") == rows["difference"].abs().max()


@pytest.mark.parametrize(
    "expected",
    [
        ["under 18", "18-24", "25-34", "56+"],
        ["<= 5", "5", "10", "100"],
        ["-10", "-2", "0", "1.5", "[2, 3)", "(3, 4]"],
        ["7", "north", "south", "(missing)"],
        # more digits than a number needs are no reason to fail
        ["1", "9" * 400],
        ["City 2", "City 10", "city 11", "City 100", "Town", "(missing)"],
        ["Level 1.5", "Level 2", "Level 10"],
        ["", "a", "(missing)"],
        ["18-24", "18-30", "25-34"],
    ],
)
def test_numbers_by_size_then_words_then_what_is_missing(expected):
    assert sorted(expected, key=value_order) == expected


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_without_the_extra_it_is_said_what_to_install(package, monkeypatch):
    need_figures()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"needs {package}: pip install 'fairrec\[figures\]'"):
        need_figures()
