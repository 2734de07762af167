"""Covariates that make a part of the difference of a finding."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.statistics.confounders import BinnedCovariate, find_confounders
from tests.statistics.small_worlds import analysis_of

N_USERS = 1000


def report(values, is_member, numbers):
    analysis = analysis_of([~is_member], "mrr@5", values, min_users=10)
    group = analysis.grouping.lattice.codes.tolist().index([0])
    levels, codes = np.unique(numbers, return_inverse=True)
    covariate = BinnedCovariate("length", numbers, codes.astype(np.int32), len(levels))
    return find_confounders(analysis, [[group]], [covariate])


def leaning_world(seed: int, lean: float, slope: float, harm: float):
    """Members have the number 1 more often by the lean; values grow with it by the slope."""
    rng = np.random.default_rng(seed)
    is_member = rng.random(N_USERS) < 0.2
    numbers = (rng.random(N_USERS) < np.where(is_member, 0.5 + lean, 0.5 - lean)).astype(np.int64)
    values = slope * numbers - harm * is_member + rng.normal(size=N_USERS)
    return values, is_member, numbers


def test_the_part_of_a_covariate_is_reported_with_its_size():
    values, is_member, numbers = leaning_world(0, lean=0.3, slope=-1.0, harm=0.0)
    (one,) = report(values, is_member, numbers)
    assert (one.metric, one.group, one.covariate) == ("mrr@5", {"a": 0}, "length")
    assert one.mean == approx(numbers[is_member].mean())
    assert one.mean_of_others == approx(numbers[~is_member].mean())
    # by hand: the others' means in the group's covariates minus in their own
    means = np.array([values[~is_member & (numbers == level)].mean() for level in (0, 1)])
    share = one.mean - one.mean_of_others
    assert one.explains == approx(share * (means[1] - means[0]))


@pytest.mark.parametrize(
    ("lean", "slope"), [(0.0, -1.0), (0.3, 0.0), (0.3, 1.0)], ids=["alike", "no matter", "easier"]
)
def test_a_covariate_without_a_part_is_not_reported(lean, slope):
    reported = [report(*leaning_world(seed, lean, slope, harm=1.0)) for seed in range(40)]
    assert sum(map(bool, reported)) <= 4


def test_a_direct_effect_does_not_count_as_dependence():
    # the number is known to go with the group, and so with the values
    values, is_member, numbers = leaning_world(3, lean=0.3, slope=0.0, harm=1.0)
    assert abs(np.corrcoef(values, numbers)[0, 1]) > 0.1
    assert report(values, is_member, numbers) == ()


def test_where_no_others_share_its_covariates_both_cannot_be_separated():
    rng = np.random.default_rng(0)
    is_member = np.arange(N_USERS) < 100
    (one,) = report(rng.random(N_USERS), is_member, np.where(is_member, 50, 10))
    assert one.explains is None
