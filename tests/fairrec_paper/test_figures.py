"""Figures of the paper are drawn with what they are about."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.figures import (
    efficiency_contour,
    grouped_bars,
    hyper_curves,
    initial_positions,
    level_edges,
    side_by_side,
)
from tests.report.drawing import svg


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


def test_the_curves_of_both_parameters_are_drawn():
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


def test_the_contour_of_times_is_drawn_over_users_and_groups():
    times = pl.DataFrame(
        {
            "users": [1000, 1000, 10000, 10000],
            "groups": [100, 1000, 100, 1000],
            "seconds": [0.1, 0.3, 1.0, 4.0],
        }
    )
    chart = efficiency_contour(times, "Time of an audit", [0.5, 2.0])
    assert "Time of an audit" in svg(chart)
    bands = chart.layer[0].data
    # in the middle of its rectangle each time lies between those measured around it
    assert 0.1 < bands["seconds"].min() < bands["seconds"].max() < 4.0
    with pytest.raises(InputError, match="every pair"):
        efficiency_contour(times.head(3), "Time of an audit", [0.5])


def test_groups_go_to_the_right_and_users_upwards_in_ten_thousands():
    times = pl.DataFrame(
        {
            "users": [20_000, 20_000, 100_000, 100_000],
            "groups": [100, 1000, 100, 1000],
            "seconds": [1.0, 2.0, 3.0, 6.0],
        }
    )
    bands = efficiency_contour(times, "Time", [2.0]).layer[0]
    assert (bands.encoding.x.shorthand, bands.encoding.y.shorthand) == ("groups:Q", "users:Q")
    assert (bands.data["users"].min(), bands.data["users_to"].max()) == (2.0, 10.0)
    assert bands.data.row(0, named=True)["seconds"] == pytest.approx(1.0, rel=0.05)
    upper_left = bands.data.filter(pl.col("groups") == 100)["seconds"]
    assert upper_left.max() == pytest.approx(3.0, rel=0.05)


def test_bands_grow_by_one_ratio_over_all_methods():
    assert level_edges(np.array([1.0, 1000.0, 30.0])) == [2.2, 4.6, 10, 22, 46, 100, 220, 460]
    assert level_edges(np.array([0.0, 0.0])) == [1e-9]


def test_methods_stand_side_by_side():
    times = pl.DataFrame(
        {
            "method": ["Themis"] * 4 + ["dpso"] * 4,
            "users": [10, 10, 100, 100] * 2,
            "groups": [5, 50] * 4,
            "seconds": [0.1, 0.3, 1.0, 4.0, 1.0, 3.0, 10.0, 40.0],
        }
    )
    chart = side_by_side(times, "Time", "users scored")
    first, second = chart.to_dict()["concat"]
    scales = [part["layer"][0]["encoding"]["color"]["scale"] for part in (first, second)]
    assert scales[0] == scales[1]
    drawn = svg(chart)
    assert all(word in drawn for word in ("Time", "Themis", "dpso", "users scored"))


def test_a_bar_is_drawn_where_there_is_a_value():
    rows = pl.DataFrame(
        {
            "data": ["MovieLens", "MovieLens", "Amazon", "Amazon"],
            "series": ["here", "published"] * 2,
            "value": [-0.028, 0.049, 0.005, None],
        }
    )
    drawn = svg(grouped_bars(rows, "Larger gap", "larger by"))
    for word in ("Larger gap", "larger by", "MovieLens", "Amazon", "+4.9%", "+0.5%"):
        assert word in drawn
    assert "\u22122.8%" in drawn
    assert drawn.count('aria-roledescription="bar"') == 3
