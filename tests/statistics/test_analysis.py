from __future__ import annotations

import numpy as np
import pytest
from pytest import approx
from scipy.stats import false_discovery_control

from fairrec.core.audit_options import AuditOptions
from fairrec.statistics.analysis import analyse
from fairrec.statistics.moments import moments_of
from fairrec.statistics.strata import Strata
from tests.groups.small_grouping import grouping_of
from tests.statistics.small_analysis import measured_as, random_analysis
from tests.statistics.small_population import permutation_test


def test_the_family_wise_correction_is_that_of_the_permutations():
    found = random_analysis(min_users=45)
    moments = moments_of(found.measured, found.grouping)
    test = permutation_test(moments, found.grouping, moments.n >= 45, 99, 0)
    is_tested = found.is_tested
    assert is_tested.any() and not is_tested.all()
    assert (found.adjusted_p_values[is_tested] == test.adjusted_p_values[is_tested]).all()
    assert (found.p_values == test.p_values).all()
    assert np.isnan(found.adjusted_p_values[~is_tested]).all()
    assert not found.is_significant[~is_tested].any()


def test_the_false_discovery_rate_is_that_of_all_metrics_together():
    found = random_analysis(effect=0.5, correction="bh", permutations=999)
    together = false_discovery_control(found.p_values[found.is_tested], method="bh")
    assert found.adjusted_p_values[found.is_tested] == approx(together)
    assert found.is_significant.any()


@pytest.mark.parametrize("correction", ["max", "bh"])
@pytest.mark.parametrize("effect", [0.0, 0.6])
def test_critical_is_where_significance_begins(correction, effect):
    found = random_analysis(effect=effect, correction=correction, permutations=499)
    score = found.test.scores.smaller
    critical = np.where(score > 0, *found.critical)
    assert (np.abs(score)[found.is_significant] >= critical[found.is_significant] - 1e-9).all()
    if correction == "max":
        is_not = found.is_tested & ~found.is_significant
        assert (np.abs(score)[is_not] < critical[is_not]).all()
    # what is found with 80% probability lies beyond it; mrr is worse below
    beyond = (found.detectable / found.moments.chance_error)[0]
    is_known = found.is_tested[0] & ~np.isnan(beyond)
    assert is_known.any() and (beyond[is_known] > found.critical[1]).all()


def test_standard_errors_are_those_of_the_differences_and_0_where_undefined():
    found = random_analysis(min_users=1)
    is_known = found.moments.chance_error > 0
    expected = np.abs(found.moments.difference / found.moments.chance_error)
    assert found.standard_errors[is_known] == approx(expected[is_known])
    one_sided = analyse(
        measured_as("mrr", [0.5, 0.5, np.nan]), grouping_of([[0, 0, 1]]), AuditOptions(threads=1)
    )
    assert one_sided.standard_errors.tolist() == [[0, 0]]


def test_without_permutations_nothing_is_tested():
    found = random_analysis(effect=0.6, permutations=0)
    assert found.test is None
    assert np.isnan(found.p_values).all() and np.isnan(found.adjusted_p_values).all()
    assert not found.is_significant.any()
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
        grouping_of([[0, 0, 1]]),
        AuditOptions(permutations=3, threads=1),
        lambda *step: steps.append(step),
    )
    assert steps == [("testing against chance", done, 3) for done in (1, 2, 3)]


def test_within_strata_nothing_beyond_the_bounds_of_a_metric_is_said():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 80, 300)]
    values = (rng.random((1, 300)) < 0.3).astype(np.float64)
    found = analyse(
        measured_as("hit@5", values),
        grouping_of(codes, min_users=2),
        AuditOptions(permutations=199, threads=1, min_support=2),
        strata=Strata(rng.integers(0, 10, 300).astype(np.int32), 10),
    )
    low, high = found.estimates.simultaneous
    assert -1 <= low.min() < -0.5 and 0.5 < high.max() <= 1
    # nobody can be worse than never served
    assert np.isnan(found.detectable).any()
    assert not (found.detectable > 0.31).any()
