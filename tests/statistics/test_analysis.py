"""The analysis of an audit: p-values, intervals and how many permutations it takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pytest import approx

from fairrec.statistics import analysis as analyse_module
from fairrec.statistics.analysis import MOST_DRAWS, analyse
from fairrec.statistics.moments import compute_moments
from fairrec.statistics.verdict import decide_verdicts, settle_outcome
from tests.statistics.small_worlds import (
    analysis_of,
    permutation_test,
    random_analysis,
)


def test_adjusted_p_values_are_those_of_the_permutations():
    found = random_analysis(min_users=45)
    moments = compute_moments(found.measured, found.grouping)
    # higher is better, and neither end is
    better = [True, None]
    test = permutation_test(
        moments, found.grouping, moments.n >= 45, found.n_permutations, 0, higher_is_better=better
    )
    is_tested = found.is_tested
    assert is_tested.any() and not is_tested.all()
    assert (found.adjusted_p_values[is_tested] == test.adjusted_p_values[is_tested]).all()
    assert (found.p_values == test.p_values).all()
    assert np.isnan(found.adjusted_p_values[~is_tested]).all()
    assert not found.is_beyond_chance[~is_tested].any()
    assert found.test.tested.shares[0].sum() == approx((0.2 + 0.5) / 2)


def test_a_finding_is_significant_and_its_interval_leaves_out_0():
    n_found = n_undecided = n_only_without = 0
    for seed in range(30):
        found = random_analysis(seed=seed, effect=0.35, permutations=199)
        low, high = found.estimates.simultaneous
        is_significant = found.adjusted_p_values <= 0.05
        is_without = (low > 0) | (high < 0)
        assert (found.is_beyond_chance == (is_significant & is_without)).all()
        assert (found.is_undecided == (is_significant & ~is_without)).all()
        # of groups of another shape test and interval agree
        assert not (found.is_undecided & found.guarded.is_guarded).any()
        n_found += found.is_beyond_chance.sum()
        n_undecided += found.is_undecided.sum()
        n_only_without += (~is_significant & is_without).sum()
    # the two do not always agree
    assert n_found and n_undecided and n_only_without


def two_halves(shift: float, seed: int = 0, **options):
    """Normal values of 400 users, and a group of 200 whose mean is lower by so many errors."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat([0, 1], 200))
    values = rng.normal(size=400)
    for half in (0, 1):
        values[codes == half] -= values[codes == half].mean()
    values -= shift * values.std() / 10 * (codes == 0)
    # no bounds, and a better end
    return analysis_of([codes], "ndcg@5", values, **options)


def near_alpha(**options):
    """An audit of which about as many seeds as not find the group significant."""
    for shift in np.arange(2.2, 3.2, 0.02):
        analysis = two_halves(float(shift), **options)
        if np.nanmin(analysis.adjusted_p_values) <= 0.05:
            return analysis
    raise AssertionError("no shift is significant")


def test_close_to_the_level_more_are_drawn_and_they_are_the_ones_of_a_longer_test():
    analysis = near_alpha(permutations=300)
    n = analysis.test.n_permutations
    assert 300 < n <= MOST_DRAWS
    at_once = analyse(
        analysis.measured, analysis.grouping, replace(analysis.options, permutations=n)
    )
    assert at_once.test.n_permutations >= n
    first = at_once.test.largest[:n]
    assert np.array_equal(analysis.test.largest, first)
    if at_once.test.n_permutations == n:
        assert np.array_equal(analysis.adjusted_p_values, at_once.adjusted_p_values)


def test_what_the_most_permutations_leave_open_is_undecided(monkeypatch):
    monkeypatch.setattr(analyse_module, "MOST_DRAWS", 300)
    analysis = near_alpha(permutations=300)
    assert analysis.test.n_permutations == 300
    assert analysis.raised > 0
    ((_, verdict),) = decide_verdicts(analysis, [True])
    assert (verdict.outcome, verdict.alternative) == ("inconclusive", "worse")
    # what is listed follows the same critical values
    assert not analysis.is_significant.any()
    low, high = analysis.estimates.simultaneous
    as_drawn = replace(analysis, raised=0.0).estimates.simultaneous
    assert (low < as_drawn.low).all() and (high > as_drawn.high).all()


@pytest.mark.parametrize(
    ("outcome", "of_other_seeds", "reported"),
    [
        ("within tolerance", ["within tolerance", "worse"], ("inconclusive", "worse")),
        ("within tolerance", ["within tolerance"] * 2, ("within tolerance", None)),
        ("worse", ["worse", "worse beyond tolerance"], ("worse", "worse beyond tolerance")),
    ],
)
def test_no_all_clear_where_another_seed_may_show_a_harm(outcome, of_other_seeds, reported):
    assert settle_outcome(outcome, of_other_seeds) == reported
