"""Both sides of a group within strata, beside a loop over strata and users."""

from __future__ import annotations

import numpy as np
from pytest import approx

from fairrec.statistics.intervals import CutOffs, Intervals
from fairrec.statistics.moments import group_moments
from fairrec.statistics.scores import others_spread, own_spread, scores_of
from fairrec.statistics.strata import Strata, one_stratum
from tests.statistics.small_population import population
from tests.statistics.test_strata import random_world


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


def test_in_one_stratum_a_side_is_what_it_is_without():
    rng = np.random.default_rng(3)
    world = population([rng.integers(0, 3, 90)], rng.normal(size=90))
    same = group_moments(world.values, world.grouping, strata=one_stratum(90))
    for spread in (own_spread, others_spread):
        assert spread(same).variance == approx(spread(world.moments).variance)
        assert spread(same).freedom == approx(spread(world.moments).freedom)
    assert scores_of(same).by_own == approx(scores_of(world.moments).by_own)


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


def test_what_varies_in_a_stratum_of_weight_is_seen_there():
    # 300 beside 15 others, and 15 beside 1,500, who vary ten times as much
    rng = np.random.default_rng(5)
    group = np.repeat([0, 1, 0, 1], [300, 15, 15, 1500])
    strata = Strata(np.repeat([0, 0, 1, 1], [300, 15, 15, 1500]).astype(np.int32), 2)
    is_wild = (group == 0) & (strata.of_user == 1)
    values = rng.normal(size=1830) * np.where(is_wild, 10.0, 1.0)
    world = population([group], values)
    moments = group_moments(world.values, world.grouping, strata=strata)
    at = world.position(0)
    part = moments.within.own.error2[0, at]
    # half of the weight is in that stratum: about a quarter of 100 / 15
    assert part == approx(100 / 15 / 4, rel=0.6)


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
