"""Figures of the paper are drawn with what they are about."""

from __future__ import annotations

import polars as pl

from fairrec_paper.figures import (
    grouped_bars,
    hyper_curves,
    initial_positions,
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


def test_methods_stand_side_by_side():
    times = pl.DataFrame(
        {
            "method": ["Themis"] * 4 + ["dpso"] * 4,
            "users": [10, 10, 100, 100] * 2,
            "groups": [5, 50] * 4,
            "seconds": [0.1, 0.3, 1.0, 4.0, 1.0, 3.0, 10.0, 40.0],
        }
    )
    drawn = svg(side_by_side(times, "Time", "users scored"))
    assert all(word in drawn for word in ("Time", "Themis", "dpso", "users scored", "100"))


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
