from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy.stats import ttest_1samp

from fairrec.statistics.paired import PairedSums, paired_change, paired_sums

NAN = np.nan


def changes_of(before, after, alpha=0.05):
    found = paired_change(np.asarray(before, float), np.asarray(after, float), alpha)
    return {name: float(getattr(found, name)[0]) for name in found.__dataclass_fields__}


@given(
    st.integers(2, 60),
    st.sampled_from([0.01, 0.05, 0.3]),
    st.floats(-3, 3),
    st.integers(0, 1000),
)
def test_change_equals_scipys_t_test(n, alpha, shift, seed):
    rng = np.random.default_rng(seed)
    before = rng.normal(size=n)
    after = before + shift + rng.normal(size=n)
    found = changes_of(before, after, alpha)
    expected = ttest_1samp(after - before, 0)
    low, high = expected.confidence_interval(1 - alpha)
    p_value = max(expected.pvalue, 2.0 ** (1 - n))
    assert found["p_value"] == approx(p_value, rel=1e-6, abs=1e-15)
    if expected.pvalue <= alpha < p_value:
        assert np.isnan(found["low"]) and np.isnan(found["high"])
    else:
        assert (found["low"], found["high"]) == (approx(low, abs=1e-7), approx(high, abs=1e-7))
    assert found["change"] == approx((after - before).mean(), abs=1e-12)
    assert (found["before"], found["after"]) == (approx(before.mean()), approx(after.mean()))
    assert found["n"] == n


def test_many_groups_at_once_equal_scipys_t_tests():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 7, 500)
    before, after = rng.random((2, 500))
    sums = (np.bincount(group, part) for part in paired_sums(before, after))
    found = PairedSums(*sums).changes(0.05)
    for g in range(7):
        expected = ttest_1samp((after - before)[group == g], 0)
        assert found.p_value[g] == approx(expected.pvalue)
        assert found.low[g] == approx(expected.confidence_interval().low)


def test_users_without_a_value_on_either_side_are_left_out():
    found = changes_of([0.1, NAN, 0.5, 0.2], [0.3, 0.9, NAN, 0.1])
    assert found == approx(changes_of([0.1, 0.2], [0.3, 0.1]), nan_ok=True)
    assert found["n"] == 2


def test_nobody_gives_nothing():
    for values in ([], [NAN, NAN]):
        found = changes_of(values, values)
        assert found["n"] == 0
        assert all(np.isnan(found[name]) for name in ("before", "after", "change", "low", "high"))


def test_one_user_has_a_change_and_no_interval():
    found = changes_of([0.25], [0.75])
    assert (found["n"], found["change"]) == (1, 0.5)
    assert all(np.isnan(found[name]) for name in ("low", "high", "p_value"))


@pytest.mark.parametrize("n", [1, 2, 50])
def test_no_change_has_p_one(n):
    values = np.random.default_rng(n).random(n)
    found = changes_of(values, values)
    assert (found["change"], found["p_value"]) == (0, 1)
    if n > 1:
        assert (found["low"], found["high"]) == (0, 0)


@pytest.mark.parametrize("n", [2, 30, 5000])
@pytest.mark.parametrize("shift", [0.1, -1e-3, 1e6])
def test_equal_change_of_all_has_no_spread(n, shift):
    before = np.zeros(n)
    found = changes_of(before, before + shift)
    assert found["change"] == approx(shift)
    assert found["p_value"] == approx(2.0 ** (1 - n), abs=1e-12)
    if n == 2:
        # no interval: one without width would be sure of what two users cannot show
        assert np.isnan(found["low"])
    else:
        assert found["high"] - found["low"] == approx(0, abs=1e-6 * abs(shift))


@pytest.mark.parametrize("n", range(2, 9))
def test_p_value_is_never_below_that_of_turning_all_signs(n):
    """Changes so alike that Student's t would be sure, of whom some did not change."""
    changes = np.array([1.0] * n + [0.0, 0.0])
    turned = [np.dot(signs, changes[:n]) for signs in product([1, -1], repeat=n)]
    least = np.mean(np.abs(turned) >= changes.sum())
    assert least == 2.0 ** (1 - n)
    found = changes_of(np.zeros(n), changes[:n] + np.arange(n) * 1e-9)
    assert found["p_value"] == approx(least)
    assert changes_of(np.zeros(n + 2), changes)["p_value"] >= least


def test_equal_changes_of_two_in_noise_are_no_evidence():
    """Values of a few steps: pairs of users often change alike."""
    rng = np.random.default_rng(0)
    p_values = [changes_of(*rng.choice([0, 0.5, 1], (2, n)))["p_value"] for n in (2, 3, 5) * 300]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05


def test_changes_that_cancel_are_no_change():
    found = changes_of([0.0, 1.0], [1.0, 0.0])
    assert (found["change"], found["p_value"]) == (0, 1)
    assert found["low"] < 0 < found["high"]


def test_inputs_stay_as_they_are_and_nothing_warns():
    before, after = np.array([NAN, 0.5]), np.array([0.5, NAN])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paired_change(before, after, 0.05)
    np.testing.assert_array_equal(before, [NAN, 0.5])
