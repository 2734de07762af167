"""The analysis of an audit: p-values, intervals and how many permutations it takes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from pytest import approx

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.statistics import analysis as analyse_module
from fairrec.statistics.analysis import MOST_DRAWS, analyse
from fairrec.statistics.findings import analyse_metrics
from fairrec.statistics.intervals import Intervals
from fairrec.statistics.moments import compute_moments
from fairrec.statistics.strata import Strata
from fairrec.statistics.verdict import WORSE, decide_verdicts, settle_outcome
from tests.groups.small_grouping import build_grouping
from tests.statistics.small_worlds import (
    analysis_of,
    measured_as,
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


@pytest.mark.parametrize("effect", [0.0, 0.6])
def test_critical_is_where_significance_begins(effect):
    found = random_analysis(effect=effect, permutations=499)
    score = found.test.scores.smaller
    is_significant = found.adjusted_p_values <= 0.05
    assert effect == 0 or is_significant.any()
    is_beyond = np.abs(score) > np.where(score > 0, *found.critical)
    assert (is_beyond == is_significant)[found.is_tested].all()
    # what is found with 80% probability lies beyond it; mrr is worse below
    beyond = (found.detectable / found.moments.chance_error)[0]
    is_known = found.is_tested[0] & ~np.isnan(beyond)
    assert is_known.any() and (beyond > found.critical[1, 0])[is_known].all()


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


def test_intervals_are_those_of_their_cut_offs_whatever_the_test_says():
    n_undecided = 0
    for seed in range(10, 20):
        found = random_analysis(seed=seed, effect=0.35, permutations=199)
        intervals = Intervals(found.moments, found.guarded.spread)
        low, high = intervals.of_differences(found.cut_offs, found._extremes)
        bounds = found.moments.bounds
        width = (bounds[:, 1] - bounds[:, 0])[:, None]
        assert found.estimates.simultaneous.low == approx(np.maximum(low, -width), abs=1e-12)
        assert found.estimates.simultaneous.high == approx(np.minimum(high, width), abs=1e-12)
        n_undecided += found.is_undecided.sum()
    assert n_undecided


def test_intersections_deeper_than_what_is_tested_are_there_for_the_gap_alone():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 2, 800) for _ in range(3)]
    values = rng.normal(size=800) - 3.0 * ((codes[0] == 0) & (codes[1] == 0) & (codes[2] == 0))
    found, deep = (
        analysis_of(codes, "urp@5", values, min_users=10, depth=depth) for depth in (1, 3)
    )
    lattice = found.grouping.lattice
    assert lattice.is_full.sum() == 8 and not (lattice.is_full & lattice.is_tested).any()
    assert (found.is_tested[0] == (lattice.depth == 1)).all()
    assert np.isnan(found.adjusted_p_values[0, lattice.is_full]).all()
    assert not found.is_beyond_chance[0, lattice.is_full].any()
    for cut_offs in (found.critical, found.cut_offs):
        assert (np.isfinite(cut_offs) == found.is_tested).all()
    # one at a time they have an interval, and the gap is between them
    assert np.isfinite(found.estimates.difference_low[0]).all()
    assert analyse_metrics(found)[0].gap == approx(analyse_metrics(deep)[0].gap)
    worst = deep.grouping.lattice.codes.tolist().index([0, 0, 0])
    assert deep.is_beyond_chance[0, worst]
    # and cost the groups that are tested nothing
    only = analysis_of(codes, "urp@5", values, min_users=10, depth=1)
    alone = analysis_of(codes[:2], "urp@5", values, min_users=10, depth=1)
    assert only.test.tested.n_columns == alone.test.tested.n_columns == 1


def test_standard_errors_are_those_of_the_differences_and_0_where_undefined():
    found = random_analysis(min_users=1)
    is_known = found.moments.chance_error > 0
    expected = np.abs(found.moments.difference / found.moments.chance_error)
    assert found.standard_errors[is_known] == approx(expected[is_known])
    one_sided = analyse(
        measured_as("mrr", [0.5, 0.5, np.nan]),
        build_grouping([[0, 0, 1]]),
        AuditOptions(engine=Engine(threads=1)),
    )
    assert one_sided.standard_errors.tolist() == [[0, 0]]


def test_without_permutations_nothing_is_tested():
    found = random_analysis(effect=0.6, permutations=0)
    assert found.test is None
    assert np.isnan(found.p_values).all() and np.isnan(found.adjusted_p_values).all()
    assert (found.critical == np.inf).all()
    assert found.cut_offs is None
    assert not found.is_beyond_chance.any() and not found.only_varies.any()
    assert found.is_fully_scored.all()
    # estimates need no test
    assert found.estimates.value.shape == found.is_tested.shape


def test_every_permutation_is_told():
    steps = []
    analyse(
        measured_as("mrr", [0.0, 1.0, 0.5]),
        build_grouping([[0, 0, 1]]),
        AuditOptions(permutations=3, engine=Engine(threads=1)),
        lambda *step: steps.append(step),
    )
    assert steps == [("testing against chance", done, 3) for done in (1, 2, 3)]


def test_within_strata_nothing_beyond_the_bounds_of_a_metric_is_said():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 80, 300)]
    values = (rng.random((1, 300)) < 0.3).astype(np.float64)
    found = analyse(
        measured_as("hit@5", values),
        build_grouping(codes, min_users=2),
        AuditOptions(permutations=199, engine=Engine(threads=1), min_support=2),
        strata=Strata(rng.integers(0, 10, 300).astype(np.int32), 10),
    )
    low, high = found.estimates.simultaneous
    assert -1 <= low.min() < -0.5 and 0.5 < high.max() <= 1
    # nobody can be worse than never served
    assert np.isnan(found.detectable).any()
    assert not (found.detectable > 0.31).any()


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


@pytest.mark.parametrize("shift", [0.0, 6.0])
def test_permutations_that_decide_are_as_many_as_were_asked_for(shift):
    analysis = two_halves(shift, permutations=300)
    assert analysis.test.n_permutations == 300
    assert analysis.raised == 0
    (verdict,) = decide_verdicts(analysis, [True])
    assert verdict.alternative is None
    assert (verdict.of_groups == WORSE).any() == (shift > 0)


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


def test_workers_draw_the_same_further_permutations():
    analysis = near_alpha(permutations=300)
    with ThreadPoolExecutor(2) as executor:
        by_workers = analyse(
            analysis.measured, analysis.grouping, analysis.options, executor=executor
        )
    assert np.array_equal(analysis.test.largest, by_workers.test.largest)
    assert np.array_equal(analysis.test.n_reached, by_workers.test.n_reached)


def test_what_the_most_permutations_leave_open_is_undecided(monkeypatch):
    monkeypatch.setattr(analyse_module, "MOST_DRAWS", 300)
    analysis = near_alpha(permutations=300)
    assert analysis.test.n_permutations == 300
    assert analysis.raised > 0
    (verdict,) = decide_verdicts(analysis, [True])
    assert (verdict.outcome, verdict.alternative) == ("inconclusive", "worse")
    # what is listed follows the same critical values
    assert not analysis.is_significant.any()
    low, high = analysis.estimates.simultaneous
    as_drawn = replace(analysis, raised=0.0).estimates.simultaneous
    assert (low < as_drawn.low).all() and (high > as_drawn.high).all()


def test_other_seeds_give_the_same_outcome_or_one_is_undecided():
    is_same, undecided = set(), 0
    for shift in (2.4, 2.5):
        first = two_halves(shift, permutations=100)
        (verdict,) = decide_verdicts(first, [True])
        for seed in range(12):
            again = analyse(first.measured, first.grouping, replace(first.options, seed=seed))
            (other,) = decide_verdicts(again, [True])
            undecided += other.alternative is not None
            if verdict.alternative is None and other.alternative is None:
                is_same.add(verdict.outcome == other.outcome)
    assert is_same == {True}
    assert undecided < 24


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
