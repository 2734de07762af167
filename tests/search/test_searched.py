"""What a finished search may have missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pytest import approx

from fairrec.metrics import MetricAtK, parse_metric
from fairrec.search.loop import SearchOutcome, search
from fairrec.search.options import Budget, Search
from fairrec.search.searched import Searched
from fairrec.search.searcher import NoHyperParameters
from tests.search.search_worlds import evidence_of, product_space

VALUES = np.repeat([0.2, 0.5, 0.6, 0.9], 5)
NDCG = parse_metric("ndcg@5")
ENDLESS = replace(NDCG, metric=replace(NDCG.metric, bounds=None))


class BoundedBy:
    """A searcher with nothing to say but how much it may have missed."""

    confidence = 0.9

    def __init__(self, bound: float) -> None:
        self.bound = bound

    def may_be_larger_by(self):
        return np.array([self.bound])


def outcome_of(users: int | None = None, min_users: int = 1) -> SearchOutcome:
    """Four groups in a row, as far as the budget goes."""
    evidence = evidence_of(product_space((4,), users_each=5, min_users=min_users), VALUES)
    return search("exact", evidence, NoHyperParameters(), budget=Budget(users=users))


def searched(outcome: SearchOutcome, metric: MetricAtK = NDCG) -> Searched:
    return Searched((metric,), Search("exact"), outcome, ledger=None)


def test_groups_of_which_every_user_is_scored_are_counted():
    part, whole = (searched(outcome_of(users)) for users in (12, None))
    n_known = int((part.outcome.evidence.n_scored == 5).sum())
    assert (part.n_full, part.n_fully_scored) == (4, n_known)
    assert n_known < 4
    assert (whole.n_full, whole.n_fully_scored) == (4, 4)


def test_where_every_group_is_known_or_none_is_large_enough_no_searcher_is_asked():
    assert searched(outcome_of()).may_be_larger_by() == ([0.0], None)
    assert searched(outcome_of(min_users=6)).may_be_larger_by() == ([None], None)


def test_a_searcher_without_a_bound_bounds_nothing():
    assert searched(outcome_of(users=12)).may_be_larger_by() == ([None], None)


@pytest.mark.parametrize(
    ("metric", "bound", "expected"),
    [
        (NDCG, 0.2, 0.2),
        # values lie between 0 and 1, and 0.3 of that is found
        (NDCG, 0.9, 1 - 0.3),
        (NDCG, -0.1, 0.0),
        (NDCG, np.nan, None),
        (ENDLESS, 7.0, 7.0),
    ],
)
def test_the_bound_of_a_searcher_stays_within_the_range_of_the_metric(metric, bound, expected):
    outcome = outcome_of(users=12)
    outcome.history.add(10, 0.0, np.array([0.3]), 1)
    (found,), confidence = searched(
        replace(outcome, searchers=(BoundedBy(bound),)), metric
    ).may_be_larger_by()
    assert found == (None if expected is None else approx(expected))
    assert confidence == 0.9
