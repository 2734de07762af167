"""Differences among users with equal covariates, beside loops over strata and permutations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from pytest import approx

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.statistics.analysis import analyse
from fairrec.statistics.intervals import CutOffs, Intervals
from fairrec.statistics.moments import group_moments
from fairrec.statistics.strata import Strata, one_stratum
from tests.groups.small_grouping import build_grouping
from tests.statistics.small_worlds import measured_as, population

OPTIONS = AuditOptions(permutations=99, engine=Engine(threads=1), min_support=1)


def random_world(seed: int = 0, n_users: int = 60):
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n, n_users) for n in (2, 3)]
    strata = Strata.from_codes([rng.integers(0, 4, n_users).astype(np.int32)], [4])
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
    # unadjusted it would be another one
    assert moments.chance_error[0, group] != approx(world.moments.chance_error[0, group])


def test_an_analysis_in_one_stratum_is_that_without():
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, n, 200) for n in (2, 3)]
    # a rate, whose bounds the intervals know
    measured = measured_as("hit@5,mrr@5", [rng.random(200) < 0.3, rng.random(200)])
    grouping = build_grouping(codes, min_users=5, depth=3)
    plain = analyse(measured, grouping, OPTIONS)
    same = analyse(measured, grouping, OPTIONS, strata=one_stratum(200))
    assert not same.is_adjusted
    for name in ("difference", "difference_low", "difference_high", "value", "shrunken"):
        found, expected = (getattr(one.estimates, name) for one in (same, plain))
        assert found.tolist() == expected.tolist()
    assert same.adjusted_p_values.tolist() == plain.adjusted_p_values.tolist()
    assert same.estimates.simultaneous.low.tolist() == plain.estimates.simultaneous.low.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_what_differs_between_strata_alone_is_not_found(seed):
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 4, 600)
    codes = [rng.random(600) < 0.1 + 0.2 * level, rng.integers(0, 3, 600)]
    measured = measured_as("mrr@5", level + rng.normal(size=600))
    grouping = build_grouping(codes, min_users=10, depth=3)
    strata = Strata.from_codes([level.astype(np.int32)], [4])
    assert analyse(measured, grouping, OPTIONS).is_beyond_chance.any()
    assert not analyse(measured, grouping, OPTIONS, strata=strata).is_beyond_chance.any()


def side_by_hand(values, is_side, is_member, of_user):
    """Mean, its variance by the side's own spread, and by that of all; weights of strata."""
    mean = error2 = like_all = weights = 0.0
    for stratum in np.unique(of_user):
        everyone = values[(of_user == stratum) & ~np.isnan(values)]
        here = values[is_side & (of_user == stratum) & ~np.isnan(values)]
        n_group = (is_member & (of_user == stratum) & ~np.isnan(values)).sum()
        if not 0 < n_group < len(everyone):
            continue
        weight = n_group * (len(everyone) - n_group) / len(everyone)
        of_all = everyone.var(ddof=1)
        own = (len(here) * here.var() + of_all) / len(here)
        mean += weight * here.mean()
        error2 += weight**2 * own / len(here)
        like_all += weight**2 * of_all / len(here)
        weights += weight
    return np.array([mean / weights, error2 / weights**2, like_all / weights**2])


def test_each_side_is_the_weighted_mean_of_its_strata():
    world, strata = random_world()
    within = group_moments(world.values, world.grouping, strata=strata).within
    n_compared = 0
    for i, values in enumerate(world.values):
        for group in range(len(world.lattice)):
            is_member = world.users_in(group)
            if is_member.all():
                continue
            for side, is_side in ((within.own, is_member), (within.others, ~is_member)):
                expected = side_by_hand(values, is_side, is_member, strata.of_user)
                found = [side.value[i, group], side.error2[i, group], side.like_all[i, group]]
                assert found == approx(expected)
                n_compared += 1
    assert n_compared > 20


def test_no_misses_are_no_certainty_within_strata_either():
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1], [40, 960])
    values = np.where(group == 0, 1.0, rng.random(1000) < 0.97)
    strata = Strata(rng.integers(0, 2, 1000).astype(np.int32), 2)
    cut = CutOffs(np.full((1, 1), 1.96), np.full((1, 1), 1.96))
    world = population([group], values, bounds=(0, 1))
    moments = group_moments(
        world.values, world.grouping, bounds=np.array([[0.0, 1.0]]), strata=strata
    )
    at = world.position(0)
    within = Intervals(moments).of_differences(cut)
    plain = Intervals(world.moments).of_differences(cut)
    assert within.low[0, at] == approx(plain.low[0, at], abs=0.005)
    assert within.low[0, at] < -0.04


def test_a_group_is_kept_as_far_as_it_weighs_what_it_is_many():
    # 900 beside 10 others, 200 beside 5,000: nearly all weight is where few of the group are
    group = np.repeat([0, 1, 0, 1], [900, 10, 200, 5000])
    strata = Strata(np.repeat([0, 0, 1, 1], [900, 10, 200, 5000]).astype(np.int32), 2)
    values = np.random.default_rng(6).normal(size=6110)
    world = population([group], values)
    moments = group_moments(world.values, world.grouping, strata=strata)
    weights = np.array([900 * 10 / 910, 200 * 5000 / 5200])
    shared = np.minimum(weights / weights.sum(), [900 / 1100, 200 / 1100]).sum()
    at = world.position(0)
    assert moments.weights.n_kept[0, at] == approx(1100 * shared)
    assert shared < 0.25
    # a group that is most of every stratum keeps all of its users
    even = Strata(np.tile([0, 1], 3055).astype(np.int32), 2)
    kept = group_moments(world.values, world.grouping, strata=even).weights.n_kept[0]
    assert kept == approx(world.moments.n[0], rel=1e-6)
