"""Every figure is a valid specification that Vega can draw."""

from __future__ import annotations

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.report.figures.efficiency_contour import efficiency_contour, side_by_side
from fairrec.report.figures.group_chart import group_chart
from fairrec.report.figures.hyper_curves import hyper_curves
from fairrec.report.figures.initial_positions import initial_positions
from fairrec.report.figures.metric_correlation import correlation_map
from fairrec.report.figures.pair_heat_map import pair_heat_map
from fairrec.report.figures.palette import DIVERGING
from fairrec.report.figures.search_history import search_history
from fairrec.report.page.build import build_page_view
from tests.worlds import ATTRIBUTES, random_world


@pytest.fixture(scope="module")
def view():
    users, predictions = random_world(2000, {"gender": "F"}, effect=1.0, seed=1)
    result = fairrec.audit(
        predictions,
        users=users,
        by=list(ATTRIBUTES),
        metrics=["auc", "mrr@5"],
        permutations=49,
        min_support=10,
        search=fairrec.SearchOptions("adaptive", budget_users="50%"),
    )
    return build_page_view(result.summary, result.group_table)


def svg(chart) -> str:
    import vl_convert

    # checks the specification, then draws it
    return vl_convert.vegalite_to_svg(chart.to_dict())


def test_the_charts_of_the_page_are_valid_and_drawn(view):
    for figure in (
        group_chart(view.charts[0]),
        pair_heat_map(view.pairs[0]),
        correlation_map(view.correlation),
        search_history(view.histories[0]),
    ):
        assert "<path" in svg(figure.chart())


def test_the_specification_is_the_chart_without_its_data(view):
    figure = group_chart(view.charts[0])
    whole = figure.chart().to_dict()
    assert whole.pop("datasets") == {name: list(rows) for name, rows in figure.data.items()}
    assert figure.spec() == whole


def test_the_initial_positions_of_two_swarms_are_drawn_over_the_users():
    users = pl.DataFrame(
        {"first": ["a", "a", "b", "b"], "second": ["x", "y"] * 2, "users": [9, 1, 5, 5]}
    )
    particles = pl.DataFrame(
        {
            "way": ["uniform", "uniform", "by distribution"],
            "first": ["a", "b", "a"],
            "second": ["y", "x", "x"],
            "particles": [3, 2, 5],
        }
    )
    drawn = svg(initial_positions(users, particles, ("gender", "age")))
    for word in ("uniform", "by distribution", "gender", "age"):
        assert word in drawn


def test_the_contour_of_times_is_drawn_over_users_and_groups():
    times = pl.DataFrame(
        {
            "users": [1000, 1000, 10000, 10000],
            "groups": [100, 1000, 100, 1000],
            "seconds": [0.1, 0.3, 1.0, 4.0],
        }
    )
    chart = efficiency_contour(times, "Time of an audit")
    assert "Time of an audit" in svg(chart)
    bands = chart.layer[0].data
    # in the middle of its rectangle each time lies between those measured around it
    assert 0.1 < bands["seconds"].min() < bands["seconds"].max() < 4.0
    with pytest.raises(InputError, match="every pair"):
        efficiency_contour(times.head(3), "Time of an audit")


def test_text_can_be_read_on_every_shade_of_a_map():
    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        line = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), line, strict=True)) + 0.05

    for colour in DIVERGING:
        assert light(colour) / light("#14181f") >= 4.5


def test_the_figures_of_experiments_are_valid_and_drawn():
    curves = pl.DataFrame(
        {
            "parameter": ["epsilon"] * 2 + ["iterations"] * 2,
            "value": [0.1, 0.2, 1.0, 5.0],
            "accuracy": [0.5, 0.9, 0.4, 0.8],
            "accuracy_sd": [0.1, None, 0.1, 0.1],
            "seconds": [1.0, 2.0, 1.0, 3.0],
            "seconds_sd": [2.0, 0.1, 0.1, None],
        }
    )
    advice = {"epsilon": (0.1, 0.2), "iterations": (5.0, 10.0)}
    drawn = svg(hyper_curves(curves, "By hyper-parameters", advice))
    assert all(word in drawn for word in ("By hyper-parameters", "epsilon", "iterations"))
    times = pl.DataFrame(
        {
            "method": ["Themis"] * 4 + ["dpso"] * 4,
            "users": [10, 10, 100, 100] * 2,
            "groups": [5, 50] * 4,
            "seconds": [0.1, 0.3, 1.0, 4.0] * 2,
        }
    )
    drawn = svg(side_by_side(times, "Time", "users scored"))
    assert all(word in drawn for word in ("Time", "Themis", "dpso", "users scored"))
