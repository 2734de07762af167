from __future__ import annotations

import polars as pl

from fairrec_paper.figures import initial_positions
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
