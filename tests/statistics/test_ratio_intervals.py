"""Confidence intervals of means that cannot be negative, and of their ratios."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest import approx
from scipy.stats import binomtest
from scipy.stats.contingency import relative_risk

from fairrec.statistics.ratios import Means, ratio_limits

TAIL = 0.025
N_WORLDS = 1500


def rates(hits, n) -> Means:
    n, hits = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(hits, dtype=float))
    mean = hits / n
    return Means(n, mean, n * mean * (1 - mean), 1.0, 1.0, is_rate=True)


def means(samples: np.ndarray, everyone: np.ndarray, most: float) -> Means:
    """One group a row; the spread of everyone is taken as one number, from all rows together."""
    mean, variance = everyone.mean(), everyone.var()
    return Means(
        np.full(len(samples), float(samples.shape[1])),
        samples.mean(axis=1),
        samples.var(axis=1) * samples.shape[1],
        variance / (mean * (1 - mean / most)),
        most,
        is_rate=False,
    )


def interval(one: Means, other: Means) -> tuple[np.ndarray, np.ndarray]:
    return ratio_limits(one.mean, one.limits(TAIL), other.mean, other.limits(TAIL))


@pytest.mark.parametrize(("hits", "n"), [(0, 30), (3, 40), (40, 40), (250, 1000)])
def test_the_interval_of_a_rate_is_wilsons(hits, n):
    low, high = rates([hits], n).limits(TAIL)
    expected = binomtest(hits, n).proportion_ci(method="wilson")
    assert (low[0], high[0]) == approx((expected.low, expected.high))


def test_the_interval_of_a_ratio_is_that_of_donner_and_zou():
    one, other = rates([12], 80), rates([90], 300)
    (l1,), (u1,) = one.limits(TAIL)
    (l2,), (u2,) = other.limits(TAIL)
    m1, m2 = 12 / 80, 90 / 300
    low, high = interval(one, other)
    # as printed in their paper, where the denominators must not be 0
    assert low[0] == approx(
        (m1 * m2 - math.sqrt((m1 * m2) ** 2 - l1 * u2 * (2 * m1 - l1) * (2 * m2 - u2)))
        / (u2 * (2 * m2 - u2))
    )
    assert high[0] == approx(
        (m1 * m2 + math.sqrt((m1 * m2) ** 2 - u1 * l2 * (2 * m1 - u1) * (2 * m2 - l2)))
        / (l2 * (2 * m2 - l2))
    )


def test_many_users_give_the_interval_of_katz():
    low, high = interval(rates([3000], 20_000), rates([8000], 40_000))
    expected = relative_risk(3000, 20_000, 8000, 40_000).confidence_interval(0.95)
    assert (low[0], high[0]) == approx((expected.low, expected.high), rel=2e-3)


def test_a_group_without_a_hit_has_an_upper_end_and_a_rest_without_one_has_none():
    low, high = interval(rates([0], 50), rates([100], 1000))
    assert low[0] == 0 and 0 < high[0] < 1.5
    low, high = interval(rates([5], 50), rates([0], 50))
    assert low[0] > 0 and high[0] == np.inf


def test_values_without_any_spread_have_no_interval():
    same = np.full((1, 20), 0.5)
    assert np.ravel(means(same, same, math.inf).limits(TAIL)) == approx([0.5, 0.5])


def test_a_group_is_never_taken_to_vary_less_than_everyone():
    rng = np.random.default_rng(0)
    everyone = rng.exponential(1, 2000)
    narrow = 1 + 0.001 * rng.standard_normal((1, 30))
    low, high = means(narrow, everyone, math.inf).limits(TAIL)
    assert high[0] - low[0] > 0.5


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
@pytest.mark.parametrize("n", [30, 100, 1000])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_intervals_of_ratios_of_rates_cover(rate, n, ratio):
    rng = np.random.default_rng([n, round(100 * rate)])
    low, high = interval(
        rates(rng.binomial(n, rate * ratio, N_WORLDS), n),
        rates(rng.binomial(3000, rate, N_WORLDS), 3000),
    )
    # .92 to .97 where 20,000 worlds were drawn; intervals of Katz fall to .23
    assert ((low <= ratio) & (ratio <= high)).mean() > 0.91


GAINS = 1 / np.log2(np.arange(2, 7))
WORLDS = {
    "ndcg, one in twenty is hit": (
        lambda rng, size: np.where(rng.random(size) < 0.05, rng.choice(GAINS, size), 0),
        1.0,
    ),
    "auc near 1": (lambda rng, size: rng.beta(0.97 * 6, 0.03 * 6, size), 1.0),
    "log-normal": (lambda rng, size: rng.lognormal(0, 1.5, size), math.inf),
}


def test_a_group_that_varies_more_than_others_has_a_wider_interval():
    rng = np.random.default_rng(0)
    others = rng.beta(0.3 * 30, 0.7 * 30, (N_WORLDS, 1000))
    wide = rng.beta(0.3, 0.7, (N_WORLDS, 30))
    low, high = interval(means(wide, others, 1.0), means(others, others, 1.0))
    assert ((low <= 1) & (high >= 1)).mean() > 0.92


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("n", [30, 300])
def test_intervals_of_ratios_of_means_cover(world, n):
    draw, most = WORLDS[world]
    rng = np.random.default_rng(n)
    others = draw(rng, (N_WORLDS, 1000))
    low, high = interval(means(draw(rng, (N_WORLDS, n)), others, most), means(others, others, most))
    # the plain interval on the log scale falls to .74
    assert ((low <= 1) & (high >= 1)).mean() > 0.92
