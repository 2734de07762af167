from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.groups.grouping import EVERYONE
from fairrec.search.searchers.posterior import (
    Beliefs,
    Ends,
    Groups,
    best_rated,
    expected_improvement,
    rate_groups,
    share_out,
    values_to_come,
)
from tests.search.search_worlds import evidence_of, product_space

ENDS = Ends(np.array([0.6, 0.2]), np.array([-0.5, -0.1]), np.array([1.1, 0.3]))


def world(n_scored=60, n_metrics=2):
    """Groups of 20, of which some users are scored, and any belief."""
    rng = np.random.default_rng(0)
    space = product_space((3, 4), users_each=20, min_users=5)
    values, proxies = rng.normal(size=(2, n_metrics, 240))
    values[0, ::7] = np.nan
    evidence = evidence_of(space, values, 0, proxies)
    evidence.score(evidence.next_users(EVERYONE, n_scored))
    evidence.score(evidence.next_users(int(space.full[2]), 20))
    groups = Groups.from_evidence(evidence, space.cell_of_full, [*range(n_metrics)])
    beliefs = Beliefs(
        rng.normal(0, 0.2, (n_metrics, 12)),
        rng.uniform(0.01, 0.1, (n_metrics, 12)),
        rng.uniform(0.5, 1, n_metrics),
        rng.normal(size=n_metrics),
        rng.uniform(0.8, 1, n_metrics),
    )
    return evidence, groups, beliefs


def test_rate_is_the_improvement_of_both_ends_and_all_metrics_per_user_left():
    evidence, groups, beliefs = world()
    expected = np.zeros(12)
    n_left = 20 - evidence.n_scored
    for i in range(2):
        mean, spread = values_to_come(groups, beliefs, i, np.arange(12))
        both = expected_improvement(mean - ENDS.highest[i], spread) + expected_improvement(
            ENDS.lowest[i] - mean, spread
        )
        expected += both / ENDS.unit[i]
    expected = np.where(n_left > 0, expected / np.maximum(n_left, 1), 0)
    rates = rate_groups(groups, beliefs, ENDS, np.arange(12), 0)
    assert rates == approx(expected, rel=1e-9)
    assert rates[2] == 0
    assert (rates > 0).sum() == 11
    some = np.array([7, 3])
    assert rate_groups(groups, beliefs, ENDS, some, 0).tolist() == rates[some].tolist()


def test_users_scored_ahead_are_as_if_they_had_been_scored_and_as_expected():
    evidence, groups, beliefs = world(0)
    beliefs = beliefs._replace(slope=np.zeros(2), share_defined=np.ones(2))
    before = rate_groups(groups, beliefs, ENDS, np.array([5]), 8)
    cell = groups.cells[5]
    evidence.n_scored[cell] += 8
    evidence.n_defined[:, cell] += 8
    evidence.totals[:, cell] += 8 * beliefs.mean[:, 5]
    after = rate_groups(groups, beliefs, ENDS, np.array([5]), 0)
    assert before == approx(after, rel=1e-9)


@pytest.mark.parametrize("n", [1, 4, 30, 99])
def test_the_best_rated_are_those_a_sort_would_give(n):
    rates = np.random.default_rng(n).normal(size=30).round(1)
    best = best_rated(rates, n)
    assert best.tolist() == sorted(set(best.tolist()))
    assert sorted(rates[best]) == sorted(rates)[-n:]


@pytest.mark.parametrize("n_users", [1, 16, 50])
def test_users_are_shared_out_one_part_at_a_time_to_the_group_worth_most_by_then(n_users):
    evidence, groups, beliefs = world()
    everything = np.arange(12)
    shares = np.zeros(12, dtype=np.int64)
    while shares.sum() < n_users:
        now = [
            rate_groups(groups, beliefs, ENDS, everything[j : j + 1], int(shares[j]))[0]
            for j in everything
        ]
        best = int(np.argmax(now))
        shares[best] += -(-(20 - evidence.n_scored[best] - shares[best]) // 8)
    rates = rate_groups(groups, beliefs, ENDS, everything, 0)
    found = share_out(groups, beliefs, ENDS, everything, rates, n_users, 8)
    assert found.tolist() == shares.tolist()
    assert n_users <= found.sum() < n_users + 3


def test_nobody_is_asked_for_where_nothing_is_left():
    evidence, groups, beliefs = world()
    rates = rate_groups(groups, beliefs, ENDS, np.arange(12), 0)
    found = share_out(groups, beliefs, ENDS, np.arange(12), rates, 999, 8)
    assert found.tolist() == (20 - evidence.n_scored).tolist()
