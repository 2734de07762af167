"""Searchers that know beforehand which groups they will look at."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.groups.grouping import Grouping
from fairrec.search.loop import SearchOutcome, search
from fairrec.search.searcher import NoHyperParameters, hyper_parameters
from fairrec.search.searchers.listed import random_order, themis
from tests.search.search_worlds import (
    evidence_of,
    exact_gap,
    gap_found,
    product_space,
    skewed_space,
    space_of,
    task_for,
    two_metrics,
)


def test_every_combination_is_asked_for_once_and_each_is_first_equally_often():
    space = product_space((2, 2))
    evidence = evidence_of(space, np.zeros(4))
    firsts = []
    for seed in range(800):
        searcher = random_order(task_for(evidence, seed), NoHyperParameters())
        order = [int(searcher.ask().groups[0]) for _ in range(4)]
        assert sorted(order) == space.full.tolist()
        firsts.append(order[0])
    counts = np.bincount(firsts)
    # chi squared with 3 degrees of freedom is above 21 once in 10,000
    assert ((counts - 200) ** 2 / 200).sum() < 21


def test_eligible_combinations_are_asked_for_in_the_order_of_their_values():
    space = skewed_space(0, (2, 3, 4), 200, 5)
    searcher = themis(task_for(evidence_of(space, np.zeros(200))), NoHyperParameters())
    asked = []
    while len(groups := searcher.ask().groups):
        asked += groups.tolist()
    codes = space.lattice.codes[asked].tolist()
    assert codes == sorted(codes)
    assert sorted(asked) == space.full.tolist()


def run(space: Grouping, values: np.ndarray, theta: float) -> SearchOutcome:
    return search(
        "testsgd", evidence_of(space, values), hyper_parameters("testsgd", {"theta": theta})
    )


@pytest.mark.parametrize("theta", [0, 0.01, 0.02, 0.05, 0.2, 0.9])
def test_gap_is_exact_among_the_groups_with_a_share_of_theta(theta):
    space = skewed_space(1, (2, 3, 4), 200, 4)
    values = two_metrics(space, 1)
    outcome = run(space, values, theta)
    for metric, own in enumerate(values):
        found = exact_gap(space, own, min_share=theta)
        assert gap_found(outcome, metric) == approx(found, abs=1e-12)
    large = space.sizes[space.sizes / space.n_users >= theta - 1e-12]
    assert outcome.evidence.users_scored == large.sum()


def test_group_with_a_share_of_exactly_theta_is_taken():
    # 7 of 100: 0.07 x 100 is a hair above 7 for a computer
    assert 0.07 * 100 > 7
    space = space_of([[0] * 7 + [1] * 6 + [2] * 87], (3,))
    outcome = run(space, np.arange(100.0), 0.07)
    assert outcome.evidence.users_scored == 7 + 87
