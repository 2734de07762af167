"""Groups whose users are the same in two audits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.comparison.pairing import is_enough, is_steady

CONDITIONS = pl.DataFrame(
    {"a0": ["x", "y", None, None, "x", "y"], "a1": [None, None, "p", "q", "p", "p"]},
    schema={"a0": pl.String, "a1": pl.String},
)


def users_of(n_moved: int) -> pl.DataFrame:
    """400 users, half of them x; some of these were y before, and nobody moved from p or q."""
    a0 = np.repeat(["x", "y"], 200)
    before = a0.copy()
    before[:n_moved] = "y"
    a1 = np.resize(["p", "q"], 400)
    return pl.DataFrame({"a0": a0, "a1": a1, "a0 base": before, "a1 base": a1})


@pytest.mark.parametrize(
    ("n_moved", "steady"),
    [
        (0, [True, True, True, True, True, True]),
        (4, [True, True, True, True, True, True]),
        (5, [False, False, True, True, False, False]),
        (200, [False, False, True, True, False, False]),
    ],
)
def test_groups_that_many_moved_into_or_out_of_are_told_from_others(n_moved, steady):
    n_users = np.array([200.0, 200, 200, 200, 100, 100])
    found = is_steady(users_of(n_moved), CONDITIONS, n_users, ["a0", "a1"])
    assert found.tolist() == steady


def test_one_who_moved_weighs_more_in_a_small_group():
    moved = users_of(0).with_columns(
        pl.when(pl.int_range(400) == 0).then(pl.lit("y")).otherwise("a0 base").alias("a0 base")
    )
    found = is_steady(moved, CONDITIONS, np.array([200.0, 200, 200, 200, 20, 100]), ["a0", "a1"])
    assert found.tolist() == [True, True, True, True, False, True]


def test_nine_in_ten_of_the_larger_side_are_enough():
    paired = np.array([90.0, 89.0, 90.0, 0.0])
    before, after = np.array([100.0, 100.0, 90.0, 0.0]), np.array([90.0, 90.0, 101.0, 0.0])
    assert is_enough(paired, before, after).tolist() == [True, False, False, False]
