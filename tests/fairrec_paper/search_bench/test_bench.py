"""What a comparison of searchers computes, by hand; the whole is tested with its conductor."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
from pytest import approx

from fairrec.search.evidence import GapHistory
from fairrec_paper.bench import (
    CURVE,
    BenchRows,
    OwnWork,
    everyone_scored,
    evidence_of,
    exact_gaps,
    over_seeds,
    worst_cells,
)
from tests.search.search_worlds import product_space

SPACE = product_space((4,), users_each=2, min_users=2)


def test_a_value_is_seen_when_it_is_paid_for():
    values = np.arange(8.0)[None]
    evidence = evidence_of(SPACE, values, seed=0)
    assert np.isnan(evidence.values(SPACE.full)).all()
    evidence.score(np.arange(8))
    assert evidence.users_scored == 8
    assert evidence.values(SPACE.full).tolist() == [[0.5, 2.5, 4.5, 6.5]]


def test_exact_gaps_are_between_the_best_and_the_worst_group_with_a_value():
    nan = np.nan
    values = np.array(
        [
            [1.0, 3.0, 5.0, 5.0, 0.0, 1.0, 2.0, 2.0],  # 2, 5, 0.5, 2
            [nan, nan, 5.0, 5.0, 1.0, 2.0, 9.0, nan],  # none, 5, 1.5, one user is too few
            [nan, nan, 5.0, 5.0, nan, nan, nan, nan],  # a single one
            [nan] * 8,
        ]
    )
    assert exact_gaps(SPACE, values).tolist() == [4.5, 3.5, 0, 0]


def test_the_worst_groups_come_first_and_those_without_a_value_are_left_out():
    values = np.array([[1.0, 3.0, 5.0, 5.0, 0.0, 1.0, np.nan, np.nan]] * 3)  # 2, 5, 0.5, none
    found = worst_cells(everyone_scored(SPACE, values), [True, False, None])
    assert [cells.tolist() for cells in found] == [[2, 0, 1], [1, 0, 2], [2, 0, 1]]


def test_a_group_that_is_not_fully_scored_is_no_worst_one():
    values = np.array([[1.0, 3.0, 5.0, 5.0, 0.0, 1.0, 2.0, 2.0]])  # 2, 5, 0.5, 2
    evidence = evidence_of(SPACE, values, seed=0)
    evidence.score(np.array([0, 1, 2, 3, 4]))
    assert [cells.tolist() for cells in worst_cells(evidence, [True])] == [[0, 1]]


def test_rows_are_shares_of_the_exact_gap_at_every_budget_and_at_the_end():
    rows = BenchRows(
        ["auc", "mrr"],
        np.array([0.5, 0.2]),
        [np.arange(1), np.array([2, 9, 1, *range(20, 24)])],
        n_users=100,
        budgets=(0.07, 0.5, 0.7),
    )
    history = GapHistory(1)
    history.add(7, 0.1, np.array([0.05]), 1)
    history.add(60, 0.2, np.array([0.2]), 2)
    outcome = SimpleNamespace(history=history, evidence=SimpleNamespace(users_scored=80))
    own = OwnWork()
    own.seconds, own.n_asked, own.groups = 0.6, 4, {1, 2, 3}
    rows.add("themis", 3, np.array([1]), outcome, own)
    frames = rows.frames()
    # 0.07 of 100 users are 7, although the product is not in binary
    assert frames["accuracy"].rows() == [
        ("themis", "mrr", 3, 0.07, 7, 0.25),
        ("themis", "mrr", 3, 0.5, 50, 0.25),
        ("themis", "mrr", 3, 0.7, 70, 1.0),
    ]
    # of the five worst, cell 1 was complete after 7 users and cell 2 after 60; there are no ten
    assert frames["worst"].rows() == [
        ("themis", "mrr", 3, 5, 0.07, 1 / 5),
        ("themis", "mrr", 3, 5, 0.5, 1 / 5),
        ("themis", "mrr", 3, 5, 0.7, 2 / 5),
    ]
    (end,) = frames["convergence"].to_dicts()
    assert (end["accuracy"], end["users"], end["share"]) == (1, 80, 0.8)
    assert (end["asks"], end["groups"]) == (4, 3)
    assert (end["ms_per_ask"], end["ms_per_group"]) == (approx(150), approx(200))
    assert frames["curve"].height == len(CURVE)
    assert frames["curve"].row(-1, named=True)["mean"] == 1


def test_the_spread_is_over_seeds_of_the_mean_over_metrics():
    rows = pl.DataFrame(
        {
            "searcher": ["a"] * 4 + ["b"] * 2,
            "seed": [0, 0, 1, 1, 0, 0],
            "accuracy": [0.0, 1.0, 1.0, 1.0, 0.25, 0.75],
        }
    )
    one, other = over_seeds(rows, ["searcher"], "accuracy").to_dicts()
    assert one == {"searcher": "a", "mean": 0.75, "sd": approx(0.125**0.5)}
    assert other == {"searcher": "b", "mean": 0.5, "sd": None}
