"""The smallest true harm that is shown, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from fairrec.statistics.power import POWER, detectable_harm
from fairrec.statistics.scores import Everyone

CRITICAL = np.array([3.0, 4.0])


def everyone(mean: float, variance: float, bounds=(-np.inf, np.inf)) -> Everyone:
    return Everyone(
        np.array([mean]), np.array([variance]), np.array([20_000.0]), np.array([bounds]),
        np.array([False]),
    )  # fmt: skip


@pytest.mark.parametrize(("worse", "critical"), [(True, 3.0), (False, 4.0), (None, 4.0)])
def test_each_end_has_its_own_cut_off(worse, critical):
    found = detectable_harm(everyone(0.0, 4.0), 0, np.array([10_000.0]), CRITICAL, worse)
    error = 2 * math.sqrt(2 / 10_000)
    assert found == pytest.approx((critical + norm.ppf(POWER)) * error, rel=0.005)


def test_nobody_is_worse_than_the_worst_value():
    n = np.array([50.0, 10_000.0])
    found = detectable_harm(everyone(0.05, 0.01, (0.0, 1.0)), 0, n, CRITICAL, False)
    assert np.isnan(found[0])
    assert 0 < found[1] < 0.05


def test_an_infinite_cut_off_and_no_spread_show_nothing():
    n = np.array([100.0])
    assert np.isnan(detectable_harm(everyone(0.0, 1.0), 0, n, np.full(2, np.inf), True)).all()
    assert np.isnan(detectable_harm(everyone(0.0, 0.0), 0, n, CRITICAL, True)).all()
