"""Differences among users in the same circumstances, beside loops over strata and permutations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from pytest import approx

from fairrec.core.audit_options import AuditOptions
from fairrec.statistics.analysis import analyse
from fairrec.statistics.moments import group_moments
from fairrec.statistics.strata import Strata, one_stratum
from tests.groups.small_grouping import grouping_of
from tests.statistics.small_analysis import measured_as
from tests.statistics.small_population import population, random_population

OPTIONS = AuditOptions(permutations=99, threads=1, min_support=1)


def random_world(seed: int = 0, n_users: int = 60):
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n, n_users) for n in (2, 3)]
    strata = Strata.of([rng.integers(0, 4, n_users).astype(np.int32)], [4])
    values = rng.random((2, n_users)) + strata.of_user
    values[1, rng.random(n_users) < 0.2] = np.nan
    return population(codes, values), strata


def stratified_difference(values, is_member, of_user) -> float:
    """Mantel and Haenszel: strata count by n * (N - n) / N."""
    total = weights = 0.0
    for stratum in np.unique(of_user):
        here = values[is_member & (of_user == stratum)]
        others = values[~is_member & (of_user == stratum)]
        here, others = here[~np.isnan(here)], others[~np.isnan(others)]
        if len(here) and len(others):
            weight = len(here) * len(others) / (len(here) + len(others))
            total += weight * (here.mean() - others.mean())
            weights += weight
    return total / weights if weights else np.nan


def test_a_difference_is_the_weighted_mean_of_those_within_strata():
    world, strata = random_world()
    moments = group_moments(world.values, world.grouping, strata=strata)
    for i, values in enumerate(world.values):
        for group in range(len(world.lattice)):
            expected = stratified_difference(values, world.users_in(group), strata.of_user)
            assert moments.difference[i, group] == approx(expected, nan_ok=True)


def test_users_are_kept_in_strata_that_have_others_too():
    # stratum 0 has both sides, stratum 1 the group alone, stratum 2 the others alone
    strata = Strata(np.array([0, 0, 1, 1, 1, 2, 0], dtype=np.int32), 3)
    world = population([[0, 0, 0, 0, 0, 1, 1]], [np.arange(7.0)])
    moments = group_moments(world.values, world.grouping, strata=strata)
    group = world.position(0)
    assert moments.weights.n_kept[0, group] == 2
    assert moments.difference[0, group] == approx((0 + 1) / 2 - 6)


def test_the_chance_error_is_the_spread_over_all_permutations_within_strata():
    of_user = np.array([0, 0, 0, 1, 1, 1, 1])
    values = np.array([1.0, 5.0, 2.0, 8.0, 3.0, 9.0, 4.0])
    is_member = np.array([True, False, False, True, True, False, False])
    drawn = []
    for first in permutations(range(3)):
        for second in permutations(range(3, 7)):
            order = np.array([*first, *second])
            drawn.append(stratified_difference(values[order], is_member, of_user))
    world = population([(~is_member).astype(int)], [values])
    strata = Strata(of_user.astype(np.int32), 2)
    moments = group_moments(world.values, world.grouping, strata=strata)
    group = world.position(0)
    assert np.mean(drawn) == approx(0.0, abs=1e-12)
    assert moments.chance_error[0, group] == approx(np.std(drawn))
    # whatever the circumstances it would be another one
    assert moments.chance_error[0, group] != approx(world.moments.chance_error[0, group])


def test_an_analysis_in_one_stratum_is_that_without():
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, n, 200) for n in (2, 3)]
    # a rate, whose bounds the intervals know
    measured = measured_as("hit@5,mrr@5", [rng.random(200) < 0.3, rng.random(200)])
    grouping = grouping_of(codes, min_users=5, depth=3)
    plain = analyse(measured, grouping, OPTIONS)
    same = analyse(measured, grouping, OPTIONS, strata=one_stratum(200))
    assert not same.is_adjusted
    for name in ("difference", "difference_low", "difference_high", "value", "shrunken"):
        found, expected = (getattr(one.estimates, name) for one in (same, plain))
        assert found.tolist() == expected.tolist()
    assert same.adjusted_p_values.tolist() == plain.adjusted_p_values.tolist()
    assert same.estimates.simultaneous.low.tolist() == plain.estimates.simultaneous.low.tolist()


def test_in_strata_of_single_users_nobody_can_be_compared():
    rng = np.random.default_rng(2)
    measured = measured_as("mrr@5", rng.random(30) - (np.arange(30) < 10))
    grouping = grouping_of([np.arange(30) < 10], min_users=5, depth=3)
    alone = Strata(np.arange(30, dtype=np.int32), 30)
    analysis = analyse(measured, grouping, OPTIONS, strata=alone)
    assert np.isnan(analysis.moments.difference).all()
    assert not analysis.is_comparable.any()
    assert not analysis.is_beyond_chance.any()
    assert (analysis.kept_share == 0).all()
    # without strata the same group stands out
    assert analyse(measured, grouping, OPTIONS).is_beyond_chance.all()


@pytest.mark.parametrize("seed", range(3))
def test_what_differs_between_strata_alone_is_not_found(seed):
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 4, 600)
    codes = [rng.random(600) < 0.1 + 0.2 * level, rng.integers(0, 3, 600)]
    measured = measured_as("mrr@5", level + rng.normal(size=600))
    grouping = grouping_of(codes, min_users=10, depth=3)
    strata = Strata.of([level.astype(np.int32)], [4])
    assert analyse(measured, grouping, OPTIONS).is_beyond_chance.any()
    assert not analyse(measured, grouping, OPTIONS, strata=strata).is_beyond_chance.any()


def test_strata_are_the_combinations_that_occur():
    first, second = np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 2, 2, 2], dtype=np.int32)
    strata = Strata.of([first, second], [2, 3])
    assert strata.n_strata == 3
    assert strata.of_user[2] == strata.of_user[3]
    assert len({*strata.of_user[:3].tolist()}) == 3
    users = [part.tolist() for part in strata.rows]
    assert sorted(users) == [[0], [1], [2, 3]]
    assert [strata.of_user[part[0]] for part in users] == [0, 1, 2]
    values = np.array([1.0, 2.0, 3.0, 5.0])
    assert strata.sums(values)[strata.of_user].tolist() == [1, 2, 8, 8]
    is_counted = np.array([True, False, True, True])
    assert strata.means(values, is_counted)[strata.of_user].tolist() == [1, 0, 4, 4]


def test_moments_of_one_stratum_are_those_without():
    world = random_population(0, share_undefined=0.3)
    stratified = group_moments(world.values, world.grouping, strata=one_stratum(300))
    for name in ("difference", "chance_error", "n_others", "own_squares", "others_squares"):
        expected = getattr(world.moments, name)
        assert getattr(stratified, name) == approx(expected, abs=1e-9, nan_ok=True)
    for own, other in zip(
        (stratified.weights.own, stratified.weights.others),
        (world.moments.weights.own, world.moments.weights.others),
        strict=True,
    ):
        is_known = np.isfinite(world.moments.difference)
        assert own[is_known] == approx(other[is_known])
