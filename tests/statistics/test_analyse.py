from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from fairrec.statistics import analyse as analyse_module
from fairrec.statistics.analyse import MOST_DRAWS, analyse
from fairrec.statistics.verdict import (
    RULED_OUT,
    WORSE,
    MetricVerdict,
    _undecided,
    position_of,
    verdicts_of,
)
from tests.statistics.small_analysis import analysis_of


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
    (verdict,) = verdicts_of(analysis, [True])
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
    (verdict,) = verdicts_of(analysis, [True])
    assert (verdict.outcome, verdict.alternative) == ("inconclusive", "worse")
    # what is listed follows the same critical values
    assert not analysis.is_significant.any()
    low, high = analysis.estimates.simultaneous
    as_drawn = replace(analysis, raised=0.0).estimates.simultaneous
    assert (low < as_drawn.low).all() and (high > as_drawn.high).all()


def test_other_seeds_give_the_same_outcome_or_one_is_undecided():
    shown, undecided = set(), 0
    for seed in range(12):
        for shift in (2.4, 2.5):
            (verdict,) = verdicts_of(two_halves(shift, permutations=100, seed=0), [True])
            again = two_halves(shift, permutations=100, threads=1)
            again = analyse(again.measured, again.grouping, replace(again.options, seed=seed))
            (other,) = verdicts_of(again, [True])
            undecided += other.alternative is not None
            if verdict.alternative is None and other.alternative is None:
                shown.add((shift, verdict.outcome == other.outcome))
    assert {same for _, same in shown} == {True}
    assert undecided < 24


def test_no_all_clear_where_another_seed_may_show_a_harm():
    analysis = two_halves(0.0, permutations=99, tolerance="0.9")
    (verdict,) = verdicts_of(analysis, [True])
    assert position_of(verdict.outcome) == RULED_OUT
    open_ = _undecided(verdict, ["not worse by more", "worse"])
    assert isinstance(open_, MetricVerdict)
    assert (open_.outcome, open_.alternative) == ("inconclusive", "worse")
    assert _undecided(verdict, ["not worse by more"] * 2) is verdict
    worse = replace(verdict, outcome="worse")
    kept = _undecided(worse, ["worse", "worse by more"])
    assert (kept.outcome, kept.alternative) == ("worse", "worse by more")
