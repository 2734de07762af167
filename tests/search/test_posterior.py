"""What is believed of groups, and whom it is worth to score."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx
from scipy import integrate, optimize, stats

from fairrec.groups.grouping import EVERYONE
from fairrec.search.searchers.posterior import (
    CAUTION,
    Beliefs,
    Ends,
    Groups,
    Posterior,
    best_rated,
    excess_bound,
    expected_improvement,
    rate_groups,
    values_to_come,
)
from tests.search.search_worlds import evidence_of, group_means, product_space, space_of

N_VALUES = (3, 8, 6)


def fitted(evidence, times=3):
    posterior = Posterior(evidence, 0, evidence.space.cell_of_full)
    for _ in range(times):
        posterior.fit()
    return posterior


def errors_in_deviations(seed, attribute_spread, own_spread, slope):
    """Of the predictions for the open groups, in a world drawn from the model."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n, 1_500) for n in N_VALUES]
    space = space_of(codes, N_VALUES, min_users=5)
    proxy = rng.normal(size=1_500)
    values = 2 + slope * proxy + rng.normal(size=1_500)
    values += rng.normal(0, own_spread, len(space.cells))[space.cells.of_user]
    for n, column in zip(N_VALUES, codes, strict=True):
        values += rng.normal(0, attribute_spread, n)[column]
    evidence = evidence_of(space, values, seed, proxy[None])
    evidence.score(evidence.next_users(EVERYONE, 300))
    still = np.flatnonzero(~evidence.is_complete[space.cell_of_full])
    mean, deviation = fitted(evidence).group_values(still)
    exact = group_means(space, values)
    truth = [exact[tuple(codes)] for codes in space.codes[still].tolist()]
    return (np.array(truth) - mean) / (deviation / CAUTION)


@pytest.mark.parametrize(
    ("attribute_spread", "own_spread", "slope"),
    [(0.5, 0.2, 0.0), (0.1, 0.05, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 2.0), (0.3, 0.3, -1.0)],
)
def test_intervals_hold_the_values_as_often_as_they_should(attribute_spread, own_spread, slope):
    z = np.concatenate(
        [errors_in_deviations(seed, attribute_spread, own_spread, slope) for seed in range(8)]
    )
    assert len(z) > 1_000
    assert (np.abs(z) < stats.norm.ppf(0.975)).mean() == approx(0.95, abs=0.03)
    assert (np.abs(z) < stats.norm.ppf(0.75)).mean() == approx(0.5, abs=0.08)
    assert z.mean() == approx(0, abs=0.15)


def test_differences_between_groups_are_no_part_of_the_slope():
    # in each group the value falls with the proxy; from group to group both rise
    space = space_of([np.repeat([0, 1, 2], 200)], (3,), min_users=5)
    group = np.repeat([0, 1, 2], 200)
    within = np.tile(np.linspace(-1, 1, 200), 3)
    evidence = evidence_of(space, 10 * group - within, 0, (10 * group + within)[None])
    evidence.score(evidence.next_users(EVERYONE, 300))
    assert fitted(evidence).slope < 0


def test_scored_users_tell_about_other_groups_with_the_same_value_of_an_attribute():
    space = product_space((10, 10), users_each=8, min_users=4)
    age, place = space.cells.codes[:, space.cells.of_user]
    rng = np.random.default_rng(3)
    # the age matters, the place does not
    values = np.where(age == 7, 5.0, 0.0) + 0.1 * rng.normal(size=800)
    evidence = evidence_of(space, values)
    for group in space.full[place[::8] < 5].tolist():
        evidence.score(evidence.next_users(group, 8))
    mean, _ = fitted(evidence).group_values(np.arange(100))
    unseen = space.codes[:, 1] >= 5
    assert mean[unseen & (space.codes[:, 0] == 7)] == approx(5, abs=0.2)
    assert mean[unseen & (space.codes[:, 0] != 7)] == approx(0, abs=0.2)


ENDS = Ends(np.array([0.6, 0.2]), np.array([-0.5, -0.1]), np.array([1.1, 0.3]))


def believed_world(n_scored=60, n_metrics=2):
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
    evidence, groups, beliefs = believed_world()
    expected = np.zeros(12)
    n_left = 20 - evidence.n_scored
    for i in range(2):
        mean, spread = values_to_come(groups, beliefs, i, np.arange(12), 0)
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
    evidence, groups, beliefs = believed_world(0)
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


@pytest.mark.parametrize("margin", [-3.0, -0.5, 0.0, 0.2, 4.0])
@pytest.mark.parametrize("spread", [0.05, 1.0, 3.0])
def test_improvement_is_the_mean_of_the_positive_part(margin, spread):
    integral, _ = integrate.quad(
        lambda x: x * stats.norm.pdf(x, margin, spread), 0, max(margin, 0) + 12 * spread
    )
    found = expected_improvement(np.array([margin]), np.array([spread]))
    assert found == approx(integral, abs=1e-7)


@pytest.mark.parametrize("risk", [0.5, 0.05, 0.001])
@pytest.mark.parametrize("limit", [-1.0, 0.5])
def test_bound_is_where_the_risks_add_up_to_the_one_allowed(risk, limit):
    mean, spread = np.array([-1.0, 0.0, 0.3, 0.3]), np.array([2.0, 1.0, 0.1, 0.5])
    found = excess_bound(mean, spread, limit, risk)

    def too_risky(x):
        return stats.norm.sf(limit + x, mean, spread).sum() - risk

    assert too_risky(0) > 0
    assert found == approx(optimize.brentq(too_risky, 0, 50), abs=1e-6)
