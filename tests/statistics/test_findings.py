from __future__ import annotations

import numpy as np
import pytest

from fairrec.statistics.findings import select_findings
from tests.statistics.small_population import permutation_test, population

ANY = -1


def world_with(effects, n_users=4000, seed=0, higher_is_better=True):
    """Findings in a world of three attributes with these effects: {codes: shift}."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n, n_users) for n in (2, 4, 5)]
    values = rng.normal(size=n_users)
    for group, shift in effects.items():
        inside = np.ones(n_users, dtype=bool)
        for column, code in zip(codes, group, strict=True):
            inside &= (column == code) | (code == ANY)
        values += shift * inside
    world = population(codes, values, min_users=10)
    test = permutation_test(
        *(world.moments, world.grouping, world.is_tested, 199, seed),
        higher_is_better=[higher_is_better],
    )
    is_significant = test.adjusted_p_values[0] <= 0.05
    selected, n_left = select_findings(
        0,
        is_significant,
        test.critical(0.05)[:, 0],
        higher_is_better,
        world.moments,
        world.grouping,
    )
    groups = [tuple(world.lattice.codes[one.position].tolist()) for one in selected]
    assert n_left == 0
    return groups, selected, is_significant


def test_children_that_add_nothing_are_folded_into_their_parent():
    groups, selected, is_significant = world_with({(ANY, 1, ANY): -0.6})
    assert groups == [(ANY, 1, ANY)]
    assert is_significant.sum() > 3
    assert sum(one.n_folded for one in selected) == is_significant.sum() - 1


def test_parents_that_differ_only_through_a_child_are_folded_into_it():
    groups, _, is_significant = world_with({(0, 1, ANY): -1.5})
    assert groups == [(0, 1, ANY)]
    assert is_significant.sum() > 1


def test_a_child_that_is_worse_than_its_parent_is_a_finding_of_its_own():
    groups, _, _ = world_with({(ANY, 1, ANY): -0.6, (0, 1, 2): -1.5})
    assert set(groups) == {(ANY, 1, ANY), (0, 1, 2)}


def test_two_separate_groups_are_two_findings():
    groups, _, _ = world_with({(0, 1, ANY): -1.0, (1, ANY, 3): 1.0})
    assert set(groups) == {(0, 1, ANY), (1, ANY, 3)}


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_of_two_complements_the_worse_end_is_named(higher_is_better):
    groups, _, _ = world_with({(0, ANY, ANY): -0.8}, higher_is_better=higher_is_better)
    assert groups == [(0 if higher_is_better else 1, ANY, ANY)]


def test_where_neither_end_is_worse_the_smaller_complement_is_named():
    rng = np.random.default_rng(0)
    codes = (rng.random(3000) < 0.3).astype(int)
    world = population([codes], rng.normal(size=3000) + codes)
    test = permutation_test(world.moments, world.grouping, world.is_tested, 99, 0)
    selected, _ = select_findings(
        0,
        test.adjusted_p_values[0] <= 0.05,
        test.critical(0.05)[:, 0],
        None,
        world.moments,
        world.grouping,
    )
    assert [one.position for one in selected] == [world.position(1)]


def test_a_group_is_not_listed_with_a_difference_that_points_the_other_way():
    # women are worse off, those in group 1 a little less so, men in group 1 a little more
    effects = {(0, ANY, ANY): -0.9, (0, 1, ANY): 0.35, (1, 1, ANY): -0.35}
    groups, _, _ = world_with(effects, n_users=8000)
    assert (0, ANY, ANY) in groups
    assert (0, 1, ANY) not in groups
    assert (1, 1, ANY) not in groups


def test_of_groups_with_the_same_users_the_simplest_is_named():
    # everyone with value 1 of the first attribute has value 1 of the second
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 3000)
    second = np.where(first == 1, 1, rng.integers(0, 2, 3000) * 2)
    values = rng.normal(size=3000) - (first == 1)
    world = population([first, second], values, min_users=10)
    test = permutation_test(world.moments, world.grouping, world.is_tested, 99, 0)
    selected, _ = select_findings(
        0,
        test.adjusted_p_values[0] <= 0.05,
        test.critical(0.05)[:, 0],
        True,
        world.moments,
        world.grouping,
    )
    (one,) = selected
    assert (world.lattice.codes[one.position] >= 0).sum() == 1


def test_without_significant_groups_there_is_no_finding():
    groups, _, _ = world_with({})
    assert groups == []


def test_who_is_worse_off_is_named_also_where_a_group_served_better_explains_it():
    groups, selected, is_significant = world_with({(1, 3, ANY): 1.2}, n_users=8000)
    assert groups[0] == (1, 3, ANY)
    # everyone else is below the mean of those they are compared with
    named = groups[1]
    assert named == (0, ANY, ANY)
    assert [one.because_of for one in selected] == [None, selected[0].position]
    assert sum(one.n_folded for one in selected) == is_significant.sum() - 2


def test_a_group_served_better_is_not_named_beside_a_worse_one_that_explains_it():
    groups, selected, _ = world_with({(1, 3, ANY): -1.2}, n_users=8000)
    assert groups == [(1, 3, ANY)]
    assert [one.because_of for one in selected] == [None]
