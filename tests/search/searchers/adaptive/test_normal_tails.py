from __future__ import annotations

import numpy as np
import pytest
from pytest import approx
from scipy import integrate, optimize, stats

from fairrec.search.searchers.posterior import excess_bound, expected_improvement


@pytest.mark.parametrize("margin", [-3.0, -0.5, 0.0, 0.2, 4.0])
@pytest.mark.parametrize("spread", [0.05, 1.0, 3.0])
def test_improvement_is_the_mean_of_the_positive_part(margin, spread):
    integral, _ = integrate.quad(
        lambda x: x * stats.norm.pdf(x, margin, spread), 0, max(margin, 0) + 12 * spread
    )
    found = expected_improvement(np.array([margin]), np.array([spread]))
    assert found == approx(integral, abs=1e-7)


def test_improvement_without_doubt_is_the_margin():
    margin = np.array([2.0, 0.0, -2.0])
    assert expected_improvement(margin, np.zeros(3)).tolist() == [2, 0, 0]


def test_improvement_is_never_negative():
    margin = np.linspace(-40, 0, 400)
    assert (expected_improvement(margin, np.ones(400)) >= 0).all()


@pytest.mark.parametrize("risk", [0.5, 0.05, 0.001])
@pytest.mark.parametrize("limit", [-1.0, 0.5])
def test_bound_is_where_the_risks_add_up_to_the_one_allowed(risk, limit):
    mean, spread = np.array([-1.0, 0.0, 0.3, 0.3]), np.array([2.0, 1.0, 0.1, 0.5])
    found = excess_bound(mean, spread, limit, risk)

    def too_risky(x):
        return stats.norm.sf(limit + x, mean, spread).sum() - risk

    assert too_risky(0) > 0
    assert found == approx(optimize.brentq(too_risky, 0, 50), abs=1e-6)


def test_bound_is_zero_where_the_limit_itself_is_safe():
    assert excess_bound(np.array([-5.0, -6.0]), np.array([1.0, 1.0]), 0.0, 0.05) == 0
    assert excess_bound(np.empty(0), np.empty(0), 0.0, 0.05) == 0


def test_bound_without_doubt_is_the_largest_value():
    assert excess_bound(np.array([1.0, 3.0]), np.zeros(2), 2.0, 0.05) == approx(1)
