"""Changes of the same users: beside scipy, by hand, in words and over groups."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy.stats import t, ttest_1samp

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.statistics.paired import (
    PairedSums,
    change_verdict,
    group_changes,
    group_sums,
    paired_change,
    paired_sums,
)

NAN = np.nan


def named(found):
    return {name: float(getattr(found, name)[0]) for name in found.__dataclass_fields__}


def changes_of(before, after, alpha=0.05):
    return named(paired_change(np.asarray(before, float), np.asarray(after, float), alpha))


def sums_by_group(before, after, group):
    return PairedSums(*(np.bincount(group, part) for part in paired_sums(before, after)))


@given(
    st.integers(2, 60), st.sampled_from([0.01, 0.05, 0.3]), st.floats(-3, 3), st.integers(0, 1000)
)
def test_change_equals_scipys_t_test(n, alpha, shift, seed):
    rng = np.random.default_rng(seed)
    before = rng.normal(size=n)
    after = before + shift + rng.normal(size=n)
    found = named(sums_by_group(before, after, np.zeros(n, dtype=int)).changes(alpha))
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


def test_a_group_has_its_own_spread_where_it_is_larger_and_that_of_all_who_changed_elsewhere():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 7, 500)
    before, after = rng.random((2, 500))
    after = np.where(rng.random(500) < 0.4, after, before)
    found = sums_by_group(before, after, group).changes(0.05)
    change = after - before
    pooled = change[change != 0].std(ddof=1)
    is_own = []
    for g in range(7):
        mine = change[group == g]
        own = mine.std(ddof=1) / np.sqrt(len(mine))
        borrowed = pooled * np.sqrt((mine != 0).sum()) / len(mine)
        assert found.error[g] == approx(max(own, borrowed))
        p_value = 2 * t.sf(abs(mine.mean()) / found.error[g], len(mine) - 1)
        assert found.p_value[g] == approx(p_value)
        is_own.append(own > borrowed)
    assert {*is_own} == {True, False}


@given(st.integers(3, 80), st.sampled_from([0.01, 0.05, 0.3]), st.integers(0, 1000))
def test_skewness_only_weakens_and_interval_and_p_value_agree(n, alpha, seed):
    rng = np.random.default_rng(seed)
    after = rng.exponential(size=n) - rng.choice([0.2, 1.0, 2.0])
    found = changes_of(np.zeros(n), after, alpha)
    plain = named(sums_by_group(np.zeros(n), after, np.zeros(n, dtype=int)).changes(alpha))
    assert found["p_value"] >= plain["p_value"] - 1e-12
    if not np.isnan(found["low"]):
        assert (found["p_value"] <= alpha) == (found["low"] > 0 or found["high"] < 0)
    if not np.isnan(plain["low"] + found["low"]):
        assert found["low"] <= plain["low"] + 1e-12 and found["high"] >= plain["high"] - 1e-12


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


@pytest.mark.parametrize(
    ("change", "p_value", "higher_is_better", "word"),
    [
        (0.1, 0.01, True, "improved"),
        (-0.1, 0.01, True, "worse"),
        (0.1, 0.01, False, "worse"),
        (-0.1, 0.05, False, "improved"),
        (0.1, 0.01, None, "changed"),
        (0.1, 0.0501, True, "not significant"),
        (0.1, NAN, True, "not significant"),
        (0.0, 0.01, True, "unchanged"),
    ],
)
def test_change_in_a_word(change, p_value, higher_is_better, word):
    assert change_verdict(change, p_value, higher_is_better, 0.05) == word


def test_sums_over_groups_are_those_of_their_users():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 90).astype(np.int32)
    options = AuditOptions(depth=1, min_support=1, engine=Engine(threads=1))
    grouping = Grouping.of((Attribute("who", codes, ("a", "b", "c")),), options)
    before, after = rng.random((2, 90))
    before[::7] = NAN
    sums = group_sums(before, after, grouping)
    known = ~np.isnan(before)
    for code in range(3):
        mine = known & (codes == code)
        assert sums.n[code] == mine.sum()
        assert sums.squares[code] == pytest.approx(((after - before)[mine] ** 2).sum())
    found = group_changes({"a": None}, before[None], after[None], grouping, 0.05)
    assert found.changes[0].change == pytest.approx(sums.changes(0.05).change)
    assert found.n_tests == 3
    assert {*found.verdicts(0)} == {"not significant"}
