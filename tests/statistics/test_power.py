from __future__ import annotations

import numpy as np
import pytest
from pytest import approx
from scipy.stats import binom

from fairrec.statistics.power import detectable_harm
from fairrec.statistics.scores import Everyone

CRITICAL = np.array([3.5, 3.0])


def everyone(mean=0.3, variance=0.1, bounds=(-np.inf, np.inf), is_rate=False) -> Everyone:
    return Everyone(
        *(np.array([mean]), np.array([variance]), np.array([10_000.0])),
        *(np.array([bounds], dtype=float), np.array([is_rate])),
    )


def rate(mean: float) -> Everyone:
    return everyone(mean, mean * (1 - mean), (0, 1), is_rate=True)


@pytest.mark.parametrize(("higher_is_better", "tail"), [(False, 0), (True, 1)])
def test_a_shift_is_found_four_times_in_five(higher_is_better, tail):
    n = np.array([2000.0])
    (harm,) = detectable_harm(everyone(), 0, n, CRITICAL, higher_is_better)
    error = np.sqrt(0.1 * (1 / 2000 + 1 / 8000))
    assert harm == approx((CRITICAL[tail] + 0.8416) * error, rel=0.01)


def test_where_neither_end_is_worse_it_is_found_at_both():
    n = np.array([50.0, 500.0])
    both = detectable_harm(everyone(), 0, n, CRITICAL, None)
    ends = [detectable_harm(everyone(), 0, n, CRITICAL, better) for better in (True, False)]
    assert both == approx(np.maximum(*ends))


@pytest.mark.parametrize("n", [300, 1000])
def test_of_a_rate_it_is_what_the_binomial_distribution_says(n):
    (harm,) = detectable_harm(rate(0.2), 0, np.array([float(n)]), CRITICAL, True)
    error = np.sqrt(0.16 * (1 / n + 1 / (10_000 - n)))
    most = np.floor(n * (0.2 - 3.0 * error))
    assert binom.cdf(most, n, 0.2 - harm) == approx(0.8, abs=1e-6)


def test_what_cannot_be_found_is_not_promised():
    # nobody can be worse than never served
    found = detectable_harm(rate(0.05), 0, np.array([30.0, 100.0, 1000.0]), CRITICAL, True)
    assert np.isnan(found[:2]).all()
    assert found[2] < 0.05
    # upwards there is room
    assert not np.isnan(detectable_harm(rate(0.05), 0, np.array([30.0]), CRITICAL, False)).any()
    bounded = everyone(0.05, 0.01, (0, 1))
    assert np.isnan(detectable_harm(bounded, 0, np.array([10.0]), CRITICAL, True)).all()


def test_without_a_test_or_without_spread_nothing_is_found():
    n = np.array([100.0])
    never = np.array([np.inf, np.inf])
    assert np.isnan(detectable_harm(everyone(), 0, n, never, False)).all()
    assert np.isnan(detectable_harm(everyone(variance=0.0), 0, n, CRITICAL, False)).all()
