"""Searchers are compared with the exact answer: by hand, by invariants, and in a picture."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from pytest import approx

from fairrec.core.errors import FairRecError, InputError
from fairrec.metrics.reading import read_inputs
from fairrec.search.evidence import FoundGap
from fairrec_paper.bench import (
    bench_searchers,
    exact_gaps,
    score_everyone,
    tabulate_search,
    worst_cells,
)
from fairrec_paper.reproduction.options import SearchBenchOptions
from tests.builders import one_each
from tests.search.search_worlds import product_space

SPACE = product_space((4,), users_each=2, min_users=2)


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
    found = worst_cells(score_everyone(SPACE, values), [True, False, None])
    assert [cells.tolist() for cells in found] == [[2, 0, 1], [1, 0, 2], [2, 0, 1]]


def test_rows_are_shares_of_the_exact_gap_at_every_budget_and_at_the_end():
    history = [FoundGap(7, (0.05,), 1), FoundGap(60, (0.2,), 2)]
    outcome = SimpleNamespace(history=history, evidence=SimpleNamespace(users_scored=80))
    from_worst = np.array([2, 9, 1, *range(20, 24)])
    found = tabulate_search(outcome, 0.2, from_worst, (0.07, 0.5, 0.7), n_users=100)
    # 0.07 of 100 users are 7, although the product is not in binary
    assert [tuple(row.values()) for row in found["accuracy"]] == [
        (0.07, 7, 0.25),
        (0.5, 50, 0.25),
        (0.7, 70, 1.0),
    ]
    # of the five worst, cell 1 was complete after 7 users and cell 2 after 60; there are no ten
    assert [tuple(row.values()) for row in found["worst"]] == [
        (5, 0.07, 1 / 5),
        (5, 0.5, 1 / 5),
        (5, 0.7, 2 / 5),
    ]
    assert found["convergence"] == [{"accuracy": 1, "users": 80, "share": 0.8}]


def four_groups(metrics: str = "mrr@4"):
    """Groups of four users, served at places 2, 1, 4 and 2, and one of a single user."""
    as_place = {"a": 2, "b": 1, "c": 4, "d": 2}
    groups = [group for group in as_place for _ in range(4)]
    users = pl.DataFrame({"user_id": range(17), "group": [*groups, "e"]})
    predictions = one_each({user: as_place[group] for user, group in enumerate(groups)} | {16: 3})
    return read_inputs(predictions, users=users, by="group", metrics=metrics)


def bench(inputs, *searchers: str, **options):
    return bench_searchers(*inputs, SearchBenchOptions(searchers, **{"n_seeds": 1, **options}))


def test_the_share_of_the_gap_found_with_its_numbers_written_out():
    found = bench(
        four_groups(), "themis", min_support=4, n_seeds=2, budgets=(0.2, 0.25, 0.5, 0.74, 0.75, 1.0)
    )
    # groups have 1/2, 1, 1/4 and 1/2; the exact gap is 3/4, between the second and the third
    assert found.gaps == {"mrr@4": approx(3 / 4)}
    assert (found.n_users, found.n_groups, found.n_combinations) == (16, 4, 5)
    of_seed = found.accuracy.filter(seed=0)
    assert of_seed["users"].to_list() == [3, 4, 8, 11, 12, 16]
    # one group is no gap; two of them are 1/2 apart; a group that is partly scored does not count
    expected = [0, 0, (1 / 2) / (3 / 4), (1 / 2) / (3 / 4), 1, 1]
    assert of_seed["accuracy"].to_list() == approx(expected)
    assert found.summary()["mean"].to_list() == approx(expected)
    assert found.summary()["sd"].to_list() == [0] * 6


def test_what_a_search_without_a_budget_comes_to():
    ends = bench(four_groups(), "themis", "testsgd", "exact", min_support=4).convergence
    assert ends["accuracy"].to_list() == [1, 1, 1]
    # the user of the group that is too small is scored by exact only
    assert ends["users"].to_list() == [16, 16, 17]
    assert ends["share"].to_list() == [1, 1, 17 / 16]
    assert ends["groups"].to_list() == ends["asks"].to_list() == [4, 4, 1]


def test_a_metric_without_a_gap_is_left_out_with_a_note():
    # among four candidates the relevant one is always found
    found = bench(four_groups("hit@4,mrr@4"), "themis", min_support=4)
    assert found.accuracy["metric"].unique().to_list() == ["mrr@4"]
    assert [*found.gaps] == ["mrr@4"]
    (note,) = found.notes
    assert note.startswith("hit@4 is left out")


@pytest.mark.parametrize(
    ("min_support", "says"),
    [(5, "No intersection of all attributes has 5 users"), (18, "has 18 users")],
)
def test_without_an_eligible_group_there_is_nothing_to_search(min_support, says):
    with pytest.raises(InputError, match=says):
        bench(four_groups(), "themis", min_support=min_support)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"searchers": ("adptive",)}, "Did you mean 'adaptive'"),
        ({"searchers": ()}, "invalid searchers: expected"),
        ({"budgets": ()}, "invalid budgets: expected"),
        ({"budgets": (1.5,)}, "invalid budgets: expected"),
        ({"hyper": {"testsgd": 5}}, "invalid hyper: expected searcher.name=number.*, got 5"),
        ({"hyper": {"dpso": {"alpha": 1}}}, "dpso is not among the searchers compared"),
        ({"hyper": {"testsgd": {"teta": 1}}}, "Did you mean 'theta'"),
    ],
)
def test_options_that_cannot_be_are_refused(options, says):
    with pytest.raises(FairRecError, match=says):
        SearchBenchOptions(**{"searchers": ("testsgd",), **options})
