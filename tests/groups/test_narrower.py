"""Sizes without an attribute or at a lower depth, beside groupings that were never wider."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.groups.narrower import next_depth, sizes_without
from tests.groups.small_grouping import grouping_of

N_VALUES = (2, 3, 5, 2)


def codes() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, n, 300) for n in N_VALUES]


@pytest.mark.parametrize("depth", [None, 1, 2, 3, 4])
@pytest.mark.parametrize("attribute", range(len(N_VALUES)))
def test_an_attribute_left_out_is_one_never_named(depth, attribute):
    columns = codes()
    wide = grouping_of(columns, min_users=8, depth=depth)
    del columns[attribute]
    narrow = grouping_of(columns, min_users=8, depth=depth)
    assert sorted(sizes_without(wide, attribute, depth)) == sorted(narrow.lattice.n_users)


@pytest.mark.parametrize(("depth", "lower"), [(2, 1), (3, 2), (4, 2), (9, 2)])
def test_the_next_depth_has_fewer_groups(depth, lower):
    wide, narrow = (grouping_of(codes(), min_users=8, depth=at) for at in (depth, lower))
    found, sizes = next_depth(wide, depth)
    assert found == lower
    assert sorted(sizes) == sorted(narrow.lattice.n_users)
    assert len(sizes) < len(wide.lattice)


@pytest.mark.parametrize("depth", [None, 1])
def test_there_is_nothing_below_a_single_attribute(depth):
    assert next_depth(grouping_of(codes(), min_users=8, depth=depth), depth) is None


def test_without_its_only_attribute_nothing_is_left():
    assert len(sizes_without(grouping_of(codes()[:1], depth=1), 0, 1)) == 0
