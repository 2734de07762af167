from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.core.errors import InputError
from fairrec.groups.grouping import Grouping
from fairrec.search.loop import SearchOutcome, search
from fairrec.search.searcher import hyper_parameters
from tests.search.search_worlds import (
    evidence_of,
    exact_gap,
    gap_found,
    skewed_space,
    space_of,
    two_metrics,
)


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


@pytest.mark.parametrize("theta", [-0.01, 1.01])
def test_theta_is_a_share(theta):
    with pytest.raises(InputError, match=f"theta: expected .*, got {theta}"):
        hyper_parameters("testsgd", {"theta": theta})
