from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.statistics.intervals import Interval
from fairrec.statistics.verdict import (
    BEYOND,
    OPEN,
    WITHIN,
    WORSE,
    decide_verdicts,
    group_outcomes,
    harm_interval,
    worst_outcome,
)
from tests.statistics.small_worlds import analysis_of, random_analysis


def interval(low: float, high: float) -> Interval:
    return Interval(np.array([low]), np.array([high]))


@pytest.mark.parametrize(
    ("ends", "higher_is_better", "harm"),
    [
        ((-0.3, -0.1), True, (0.1, 0.3)),
        ((-0.3, 0.1), True, (-0.1, 0.3)),
        ((-0.3, 0.1), False, (-0.3, 0.1)),
        ((-0.3, -0.1), None, (0.1, 0.3)),
        ((-0.3, 0.1), None, (0.0, 0.3)),
        ((0.2, 0.3), None, (0.2, 0.3)),
    ],
)
def test_the_interval_of_a_harm(ends, higher_is_better, harm):
    found = harm_interval(interval(*ends), higher_is_better)
    assert (found.low[0], found.high[0]) == harm


@pytest.mark.parametrize(
    ("harm", "is_worse", "tolerance", "outcome"),
    [
        ((0.1, 0.3), True, None, WORSE),
        ((-0.1, 0.3), False, None, OPEN),
        ((0.1, 0.3), True, 0.05, BEYOND),
        ((0.1, 0.3), True, 0.1, WORSE),
        ((0.1, 0.3), True, 0.2, WORSE),
        # worse, and by so little that it does not matter
        ((0.1, 0.3), True, 0.4, WITHIN),
        ((-0.1, 0.3), False, 0.4, WITHIN),
        ((-0.1, 0.3), False, 0.3, OPEN),
        # an interval alone shows nobody worse
        ((0.1, 0.3), False, 0.05, OPEN),
    ],
)
def test_the_outcome_of_a_group(harm, is_worse, tolerance, outcome):
    found = group_outcomes(interval(*harm), np.array([is_worse]), np.array([True]), tolerance)
    assert found.tolist() == [outcome]


def test_groups_served_better_are_counted_where_one_end_is_better():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat([0, 1], 200))
    values = rng.random((2, 400)) + 0.5 * (codes == 1)
    analysis = analysis_of([codes], "mrr@5,urp@5", values / 1.5, permutations=199)
    (of_mrr, _), (of_urp, _) = decide_verdicts(analysis, [True, True])
    assert analysis.is_beyond_chance.all()
    assert (of_mrr.is_better.sum(), (of_mrr.of_groups == WORSE).sum()) == (1, 1)
    # neither end of urp is better, so both groups differ and none is served better
    assert (of_urp.is_better.sum(), (of_urp.of_groups == WORSE).sum()) == (0, 2)


def test_a_planted_group_is_worse_and_the_others_are_certified():
    analysis = random_analysis(effect=0.6, permutations=199, tolerance="0.05")
    (groups, verdict), _ = decide_verdicts(analysis, [True, True])
    assert verdict.outcome == "worse beyond tolerance"
    lattice = analysis.grouping.lattice
    planted = lattice.codes.tolist().index([0, 0])
    assert groups.of_groups[planted] == BEYOND
    assert groups.harm.low[planted] > 0.05
    # the certificate leaves out who is shown worse, and is the largest upper end of the others
    others = (groups.of_groups > WORSE) & analysis.is_tested[0]
    first, *_, last = verdict.certificate
    assert first.harm == approx(groups.harm.high[others].max())
    assert first.n_groups == others.sum()
    for point in verdict.certificate:
        at_least = others & (analysis.moments.n[0] >= point.support)
        assert point.n_groups == at_least.sum()
        assert point.harm == approx(max(0, groups.harm.high[at_least].max()))
    assert first.support < last.support and first.harm > last.harm


def test_a_metric_is_ruled_out_by_its_single_attributes_and_says_what_is_open():
    analysis = random_analysis(seed=10, permutations=199)
    assert not analysis.is_beyond_chance[0].any()
    depth = (analysis.grouping.lattice.codes >= 0).sum(axis=1)
    upper = decide_verdicts(analysis, [True, True])[0].groups.harm.high
    largest = upper[depth == 1].max()
    assert upper[depth == 2].max() > largest
    for tolerance, outcome in (
        (largest * 1.1, "within tolerance"),
        (largest * 0.8, "inconclusive"),
    ):
        options = {"seed": 10, "permutations": 199, "tolerance": tolerance}
        (groups, verdict), _ = decide_verdicts(random_analysis(**options), [True, True])
        assert verdict.outcome == outcome
        is_open = groups.of_groups == OPEN
        assert verdict.n_inconclusive == is_open.sum() > 0
        assert (groups.of_groups == WITHIN).any()
        sizes = analysis.grouping.lattice.n_users
        if verdict.ruled_out_from is not None:
            assert sizes[is_open].max() < verdict.ruled_out_from


def test_where_too_many_have_no_value_nothing_is_ruled_out_and_a_group_may_be_worse():
    analysis = random_analysis(effect=0.6, permutations=199, tolerance=10.0)
    (groups, verdict), _ = decide_verdicts(analysis, [False, True])
    assert verdict.outcome == "worse"
    assert groups.has(WITHIN).sum() == 0 and verdict.certificate == ()


@pytest.mark.parametrize("differs", ["differs beyond tolerance", "differs", "inconclusive"])
def test_a_metric_without_a_better_end_decides_only_where_there_is_no_other(differs):
    neutral = (differs, None)
    assert worst_outcome([neutral, ("within tolerance", True)]) == "within tolerance"
    assert worst_outcome([neutral, ("within tolerance", None)]) == differs
