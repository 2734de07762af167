"""Scores by both errors, and the guard of groups of another shape."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy.special import ndtri, stdtr
from scipy.stats import ttest_ind

from fairrec.groups.lattice import ANY, Parents
from fairrec.statistics.scores import (
    compute_scores,
    guard_spread,
    normal_scale,
    own_spread,
    student_scale,
    widest_ancestor,
)
from tests.groups.small_grouping import build_grouping
from tests.statistics.small_worlds import population


@pytest.mark.parametrize("freedom", [4.0, 9.0, 30.0, 1000.0])
def test_the_normal_scale_has_the_tails_of_students_t(freedom):
    for t in (-6.0, -2.0, 0.5, 3.0):
        expected = ndtri(stdtr(freedom, t))
        got = normal_scale(np.array(t), np.array(freedom))
        assert float(got) == approx(expected, rel=0.02, abs=0.01)
        assert float(student_scale(np.abs(got), np.array(freedom))) == approx(abs(t))
    assert student_scale(np.array(np.inf), np.array(freedom)) == np.inf


def test_by_own_error_large_groups_have_welchs_statistic():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [300, 900])
    values = rng.normal(size=1200) * np.where(group, 1.0, 3.0)
    scores = compute_scores(population([group], values).moments)
    expected = ttest_ind(values[group == 0], values[group == 1], equal_var=False)
    assert scores.by_own[0, 0] == approx(ndtri(stdtr(expected.df, expected.statistic)), rel=0.01)
    assert abs(scores.by_own[0, 0]) < abs(scores.by_chance[0, 0])
    assert scores.smaller[0, 0] == scores.by_own[0, 0]


def random_lattice(seed: int, depth: int | None, min_users: int):
    rng = np.random.default_rng(seed)
    # so many that no two groups have the same users
    codes = [rng.integers(0, n, 900) for n in (2, 3, 3, 2)]
    return build_grouping(codes, min_users=min_users, depth=depth).lattice


@given(st.integers(0, 2**32), st.sampled_from([None, 1, 2, 3, 4]), st.integers(15, 120))
def test_parents_and_widest_ancestors_equal_a_loop_over_subsets_of_conditions(
    seed, depth, min_users
):
    lattice = random_lattice(seed, depth, min_users)
    position = {tuple(group): at for at, group in enumerate(lattice.codes.tolist())}
    variance = np.random.default_rng(seed).random((2, len(lattice)))
    parents, everyone = Parents(lattice), np.arange(len(lattice))
    without_one = [parents.without(attribute, everyone) for attribute in range(4)]
    widest = widest_ancestor(variance, lattice)
    for group, at in position.items():
        named = [attribute for attribute, code in enumerate(group) if code != ANY]
        without = {
            attribute: position.get((*group[:attribute], ANY, *group[attribute + 1 :]), -1)
            for attribute in named
        }
        expected = [without.get(attribute, -1) for attribute in range(len(group))]
        assert [without_one[attribute][at] for attribute in named] == [
            expected[attribute] for attribute in named
        ]
        containing = [
            position[tuple(c if a in kept else ANY for a, c in enumerate(group))]
            for n_kept in range(1, len(named))
            for kept in combinations(named, n_kept)
            if tuple(c if a in kept else ANY for a, c in enumerate(group)) in position
        ]
        if len(named) > (depth or 0) + 1:
            # deeper than what is tested: the groups between are not in the lattice
            assert (widest[:, at] == 0).all()
            continue
        for metric in range(2):
            expected = max((variance[metric, one] for one in containing), default=0.0)
            assert widest[metric, at] == expected


def test_a_group_that_varies_more_is_guarded_with_those_inside_it():
    # half of country 0 has 1, the other half 9; the ten of them who are old all have 1
    country = np.repeat([0, 1], [40, 160])
    is_old = np.zeros(200, dtype=int)
    is_old[[*range(0, 20, 2), *range(60, 160)]] = 1
    rng = np.random.default_rng(0)
    values = np.where(country == 0, 0.0, rng.normal(size=200))
    values[:40:2], values[1:40:2] = -4.0, 4.0
    world = population([country, is_old], values)
    spread = own_spread(world.moments)
    found, is_guarded = guard_spread(spread, world.moments, world.lattice)
    wide, inside = world.position(0, ANY), world.position(0, 1)
    everyone = world.moments.variance[0]
    own = spread.variance[0]
    assert own[wide] > 1.5 * everyone and own[inside] < 0.5 * everyone
    named = {(0, ANY), (0, 0), (0, 1)}
    guarded = {tuple(world.lattice.codes[at].tolist()) for at in np.flatnonzero(is_guarded[0])}
    assert guarded == named
    # of ten users: half by themselves, half by those of the country
    assert found.variance[0, inside] == approx((10 * own[inside] + 10 * own[wide]) / 20)
    # the widest itself has no wider one, and nothing is narrowed
    assert found.variance[0, wide] == own[wide]
    is_free = ~is_guarded[0]
    assert is_free.any() and (found.variance[0, is_free] == own[is_free]).all()
    assert found.freedom is spread.freedom
