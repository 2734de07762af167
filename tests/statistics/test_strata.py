from __future__ import annotations

import numpy as np
from pytest import approx

from fairrec.statistics.moments import group_moments
from fairrec.statistics.strata import Strata, one_stratum
from tests.statistics.small_population import population, random_population


def test_strata_are_the_combinations_that_occur():
    strata = Strata.of([np.array([0, 1, 1, 0]), np.array([0, 0, 2, 0])], [2, 3])
    assert strata.n_strata == 3
    assert len({*strata.of_user.tolist()}) == 3
    assert strata.of_user[0] == strata.of_user[3]
    assert strata.sums(np.ones(4)).sum() == 4


def test_means_are_of_those_who_count():
    strata = Strata(np.array([0, 0, 1, 1], dtype=np.int32), 2)
    counted = np.array([True, False, False, False])
    assert strata.means(np.array([3.0, 9.0, 5.0, 5.0]), counted).tolist() == [3.0, 0.0]


def test_one_stratum_is_as_none():
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


def test_differences_and_their_spread_equal_a_loop_over_strata():
    rng = np.random.default_rng(1)
    codes, of_user = rng.integers(0, 3, 120), rng.integers(0, 5, 120).astype(np.int32)
    values = rng.normal(size=120) + of_user
    world = population([codes], values)
    found = group_moments(world.values, world.grouping, strata=Strata(of_user, 5))
    for group in range(len(world.lattice)):
        inside = world.users_in(group)
        above = below = variance = 0.0
        for stratum in range(5):
            here = of_user == stratum
            n, others = (inside & here).sum(), (~inside & here).sum()
            weight = n * others / (n + others)
            above += weight * (values[inside & here].mean() - values[~inside & here].mean())
            below += weight
            # of a sum of n values drawn without replacement
            variance += values[here].var(ddof=1) * weight
        assert found.difference[0, group] == approx(above / below)
        assert found.chance_error[0, group] == approx(np.sqrt(variance) / below)


def test_strata_without_others_are_left_out_and_counted():
    # all of the second stratum are in the group
    world = population([[0, 0, 0, 1, 0, 0]], [[1.0, 2.0, 3.0, 5.0, 90.0, 70.0]])
    strata = Strata(np.array([0, 0, 0, 0, 1, 1], dtype=np.int32), 2)
    found = group_moments(world.values, world.grouping, strata=strata)
    assert found.difference[0, 0] == approx((1 + 2 + 3) / 3 - 5)
    assert found.n[0].tolist() == [5, 1]
    assert found.weights.n_kept[0].tolist() == [3, 1]


def test_strata_of_single_users_leave_nothing_to_compare():
    world = population([[0, 0, 1, 1]], [[1.0, 2.0, 3.0, 5.0]])
    found = group_moments(
        world.values, world.grouping, strata=Strata(np.arange(4, dtype=np.int32), 4)
    )
    assert np.isnan(found.difference).all()
    assert (found.weights.n_kept == 0).all()
