"""What is detected, expected to be ruled out, and how many users that takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest import approx
from scipy.stats import binom, norm

from fairrec.statistics.power import (
    certified_harm,
    detectable_harm,
    expected_cut_offs,
)
from fairrec.statistics.scores import Everyone

CRITICAL = np.array([3.5, 3.0])


def some_users(mean=0.3, variance=0.1, bounds=(-np.inf, np.inf), is_rate=False) -> Everyone:
    return Everyone(
        *(np.array([mean]), np.array([variance]), np.array([10_000.0])),
        *(np.array([bounds], dtype=float), np.array([is_rate])),
    )


def some_rate(mean: float) -> Everyone:
    return some_users(mean, mean * (1 - mean), (0, 1), is_rate=True)


@pytest.mark.parametrize(("higher_is_better", "tail"), [(False, 0), (True, 1)])
def test_a_shift_is_found_four_times_in_five(higher_is_better, tail):
    n = np.array([2000.0])
    (harm,) = detectable_harm(some_users(), 0, n, CRITICAL, higher_is_better)
    error = np.sqrt(0.1 * (1 / 2000 + 1 / 8000))
    assert harm == approx((CRITICAL[tail] + 0.8416) * error, rel=0.01)


@pytest.mark.parametrize("n", [300, 1000])
def test_of_a_rate_it_is_what_the_binomial_distribution_says(n):
    (harm,) = detectable_harm(some_rate(0.2), 0, np.array([float(n)]), CRITICAL, True)
    error = np.sqrt(0.16 * (1 / n + 1 / (10_000 - n)))
    most = np.floor(n * (0.2 - 3.0 * error))
    assert binom.cdf(most, n, 0.2 - harm) == approx(0.8, abs=1e-6)


def test_what_cannot_be_found_is_not_promised():
    # nobody can be worse than never served
    found = detectable_harm(some_rate(0.05), 0, np.array([30.0, 100.0, 1000.0]), CRITICAL, True)
    assert np.isnan(found[:2]).all()
    assert found[2] < 0.05
    # upwards there is room
    assert not np.isnan(
        detectable_harm(some_rate(0.05), 0, np.array([30.0]), CRITICAL, False)
    ).any()
    bounded = some_users(0.05, 0.01, (0, 1))
    assert np.isnan(detectable_harm(bounded, 0, np.array([10.0]), CRITICAL, True)).all()


ALPHA = 0.05
UNBOUNDED = (-np.inf, np.inf)


def everyone(mean=0.0, variance=1.0, n=2000, bounds=UNBOUNDED, is_rate=False, n_metrics=1):
    """All users, alike in every metric."""
    numbers = (np.full(n_metrics, float(number)) for number in (mean, variance, n))
    return Everyone(*numbers, np.array([bounds] * n_metrics), np.full(n_metrics, is_rate))


def rate(mean: float, n: int = 2000) -> Everyone:
    return everyone(mean, mean * (1 - mean), n, (0.0, 1.0), is_rate=True)


def singles(n: np.ndarray) -> np.ndarray:
    """The depths of groups by one attribute."""
    return np.ones(len(n), dtype=int)


def test_few_hits_have_a_long_upper_tail():
    """100 of very many users, one in twenty with a hit: from a binomial table."""
    n = np.array([100.0])
    up, down = expected_cut_offs(rate(0.05, n=10**9), n, singles(n), ALPHA)[:, 0]
    hits = 5 + up * math.sqrt(100 * 0.05 * 0.95)
    beyond = binom.sf([math.floor(hits) - 1, math.ceil(hits) - 1], 100, 0.05)
    assert beyond[0] >= ALPHA / 2 >= beyond[1]
    assert up > 1.1 * norm.isf(ALPHA / 2)
    # below, it is short, and audits take that of a normal score
    assert down == pytest.approx(norm.isf(ALPHA / 2))
    # metrics share alpha
    two = everyone(0.05, 0.05 * 0.95, 10**9, (0.0, 1.0), is_rate=True, n_metrics=2)
    of_half = expected_cut_offs(rate(0.05, n=10**9), n, singles(n), ALPHA / 2)
    assert expected_cut_offs(two, n, singles(n), ALPHA) == pytest.approx(of_half)


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_without_bounds_the_harm_ruled_out_is_a_sum_of_two_quantiles(higher_is_better):
    cut_offs = np.full((2, 1), 3.0)
    error = math.sqrt(1 / 1000 + 1 / 1000)
    for probability in (0.5, 0.8):
        harm = certified_harm(
            everyone(), 0, np.array([1000.0]), cut_offs, higher_is_better, probability
        )
        assert harm == pytest.approx((3 + norm.ppf(probability)) * error, rel=0.01)
