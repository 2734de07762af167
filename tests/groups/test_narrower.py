"""Sizes without an attribute or at a lower depth, beside groupings that were never wider."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.groups.grouping import Sizes, next_depth, sizes_of, sizes_without
from fairrec.groups.lattice import ANY
from tests.groups.small_grouping import grouping_of

N_VALUES = (2, 3, 5, 2)


def codes() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, n, 300) for n in N_VALUES]


def in_order(sizes: Sizes) -> list[tuple[int, int]]:
    """Users and number of attributes of each group."""
    assert len(sizes.n_users) == len(sizes.depth)
    return sorted(zip(sizes.depth.tolist(), sizes.n_users.tolist(), strict=True))


@pytest.mark.parametrize("depth", [1, 2, 4, None])
def test_sizes_are_those_of_groups_that_are_tested(depth):
    grouping = grouping_of(codes(), min_users=2, depth=depth)
    tested = [
        (len(group) - group.count(ANY), n)
        for group, n in zip(
            grouping.lattice.codes.tolist(), grouping.lattice.n_users.tolist(), strict=True
        )
        if depth is None or len(group) - group.count(ANY) <= depth
    ]
    # the intersections of all attributes are looked at for the gap whatever the depth
    assert (len(tested) < len(grouping.lattice)) == (depth in (1, 2))
    assert in_order(sizes_of(grouping)) == sorted(tested)


@pytest.mark.parametrize("depth", [None, 1, 2, 3, 4])
@pytest.mark.parametrize("attribute", range(len(N_VALUES)))
def test_an_attribute_left_out_is_one_never_named(depth, attribute):
    columns = codes()
    wide = grouping_of(columns, min_users=8, depth=depth)
    del columns[attribute]
    narrow = grouping_of(columns, min_users=8, depth=depth)
    found = sizes_without(wide, attribute, depth)
    assert in_order(found) == in_order(sizes_of(narrow))
    is_tested = narrow.lattice.is_tested
    assert sorted(found.n_users) == sorted(narrow.lattice.n_users[is_tested])


@pytest.mark.parametrize(("depth", "lower"), [(2, 1), (3, 2), (4, 3), (9, 3)])
def test_the_next_depth_has_fewer_groups(depth, lower):
    wide, narrow = (grouping_of(codes(), min_users=8, depth=at) for at in (depth, lower))
    found, sizes = next_depth(wide, depth)
    assert found == lower
    assert in_order(sizes) == in_order(sizes_of(narrow))
    assert sizes.depth.max() == lower
    assert len(sizes.n_users) < wide.lattice.is_tested.sum()


@pytest.mark.parametrize("depth", [None, 1])
def test_there_is_nothing_below_a_single_attribute(depth):
    assert next_depth(grouping_of(codes(), min_users=8, depth=depth), depth) is None


def test_without_its_only_attribute_nothing_is_left():
    assert len(sizes_without(grouping_of(codes()[:1], depth=1), 0, 1).n_users) == 0
