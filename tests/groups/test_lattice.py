"""Cells and groups, beside slow loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.groups.cells import Cells, build_cells
from fairrec.groups.grouping import (
    Partition,
    groups_by_sampling,
    refuse_too_many,
)
from fairrec.groups.lattice import ANY, build_lattice, cover, padded_size
from tests.grouped_options import on_command_line
from tests.groups.small_grouping import build_grouping


def slow_groups(codes, depth, min_users):
    """Every group with its users, by looking at each set of attributes in turn."""
    n_attributes = len(codes)
    sizes = {n_attributes} if depth is None else {*range(1, depth + 1), n_attributes}
    eligible, n_below = {}, {}
    for size in sorted(s for s in sizes if s <= n_attributes):
        n_below[size] = 0
        for subset in combinations(range(n_attributes), size):
            users = {}
            for user in range(len(codes[0])):
                group = [ANY] * n_attributes
                for attribute in subset:
                    group[attribute] = int(codes[attribute][user])
                users.setdefault(tuple(group), []).append(user)
            for group, its_users in users.items():
                if len(its_users) >= min_users:
                    eligible[group] = its_users
                else:
                    n_below[size] += 1
    return eligible, n_below


@given(
    st.integers(0, 2**32),
    st.integers(1, 5),
    st.sampled_from([None, 1, 2, 3, 5]),
    st.integers(1, 8),
    st.sampled_from([2, 20, 200, 1 << 17]),
)
def test_lattice_equals_brute_force(seed, n_attributes, depth, min_users, room):
    # a small room sends sets of attributes down the path for sparse spaces
    rng = np.random.default_rng(seed)
    n_values = rng.integers(1, 6, n_attributes).tolist()
    codes = [rng.integers(0, n, 60).astype(np.int32) for n in n_values]
    values = rng.normal(size=60)
    cells = build_cells(codes, n_values)
    lattice = build_lattice(cells, depth, min_users, threads=2, room=room)
    slow, n_below = slow_groups(codes, depth, min_users)

    groups = [tuple(row) for row in lattice.codes.tolist()]
    assert sorted(groups) == sorted(slow)
    assert lattice.n_users.tolist() == [len(slow[group]) for group in groups]
    assert lattice.is_full.tolist() == [ANY not in group for group in groups]
    depths = [len(group) - group.count(ANY) for group in groups]
    assert lattice.depth.tolist() == depths
    assert lattice.is_tested.tolist() == [depth is None or one <= depth for one in depths]
    assert {size: n for size, n in lattice.n_below.items() if n} == {
        size: n for size, n in n_below.items() if n
    }
    sums = lattice.sums(np.stack([cells.sums(values), cells.sums(values**2)]), threads=2)
    for i, group in enumerate(groups):
        assert sums[0, i] == pytest.approx(values[slow[group]].sum(), abs=1e-12)
        assert sums[1, i] == pytest.approx((values[slow[group]] ** 2).sum(), abs=1e-12)


@given(
    st.integers(0, 2**32),
    st.sampled_from([None, 1, 2, 3, 5]),
    st.integers(1, 8),
    st.sampled_from([2, 20, 200, 1 << 17]),
)
def test_values_of_one_column_are_had_together_or_lacked_alone(seed, depth, min_users, room):
    rng = np.random.default_rng(seed)
    n_values = [2, 3, 3, 2, 4]
    codes = [rng.integers(0, n, 80).astype(np.int32) for n in n_values]
    together = [{0: 1, 2: 0}, {1: 2, 3: 1}]
    found = build_lattice(build_cells(codes, n_values), depth, min_users, 1, room, together)

    def is_group(group):
        named = [[at for at in one if group[at] != ANY] for one in together]
        return ANY not in group or all(
            len(mine) < 2 or all(group[at] == one[at] for at in mine)
            for mine, one in zip(named, together, strict=True)
        )

    slow, _ = slow_groups(codes, depth, min_users)
    wanted = {group: users for group, users in slow.items() if is_group(group)}
    groups = [tuple(row) for row in found.codes.tolist()]
    assert sorted(groups) == sorted(wanted)
    assert found.n_users.tolist() == [len(wanted[group]) for group in groups]
    every, _ = slow_groups(codes, depth, 1)
    below = [len(g) - g.count(ANY) for g in every if is_group(g) and g not in wanted]
    assert {size: n for size, n in found.n_below.items() if n} == {
        size: below.count(size) for size in below
    }


def slow_cells(codes: list[np.ndarray]) -> dict[tuple[int, ...], list[int]]:
    """Users by combination, the obvious way."""
    cells: dict[tuple[int, ...], list[int]] = {}
    for user, combination in enumerate(zip(*codes, strict=True)):
        cells.setdefault(tuple(int(code) for code in combination), []).append(user)
    return cells


def assert_equal_cells(codes: list[np.ndarray], n_values: list[int]) -> None:
    cells = build_cells(codes, n_values)
    slow = slow_cells(codes)
    combinations = [tuple(column) for column in cells.codes.T.tolist()]
    assert combinations == sorted(slow)
    assert cells.n_users.tolist() == [len(slow[combination]) for combination in combinations]
    for cell, combination in enumerate(combinations):
        assert np.flatnonzero(cells.of_user == cell).tolist() == slow[combination]


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 60))
def test_cells_equal_the_obvious_grouping(seed, n_attributes, n_users):
    rng = np.random.default_rng(seed)
    n_values = rng.integers(1, 6, n_attributes).tolist()
    codes = [rng.integers(0, n, n_users).astype(np.int32) for n in n_values]
    assert_equal_cells(codes, n_values)


@pytest.mark.parametrize(
    ("n_attributes", "n_values"),
    [(2, 2**30), (3, 2**30), (16, 10), (40, 10), (70, 2), (5, 2**31 - 1)],
)
def test_keys_do_not_collide_however_large_the_space_is(n_attributes, n_values):
    # products from 2^60 up to far beyond 2^63
    rng = np.random.default_rng(n_attributes)
    few = rng.integers(0, n_values, (n_attributes, 50))
    codes = few[:, rng.integers(0, 50, 400)].astype(np.int32)
    # neighbours that differ in the last place only: what a 53-bit key would throw together
    codes[:, 1::2] = codes[:, ::2]
    codes[-1, 1::2] = (codes[-1, ::2] + 1) % n_values
    assert_equal_cells(list(codes), [n_values] * n_attributes)


n_values_strategy = st.lists(st.integers(1, 40), min_size=1, max_size=9)


@given(n_values_strategy, st.integers(1, 4), st.sampled_from([4, 60, 1000, 100_000]))
def test_every_set_of_attributes_is_read_exactly_once_in_blocks_that_fit(n_values, depth, room):
    blocks = cover(n_values, depth, room)
    for block in blocks:
        assert all(set(subset) <= set(block.attributes) for subset in block.subsets)
        if padded_size(block.attributes, n_values) > room:
            assert block.subsets == (block.attributes,)
    read = [subset for block in blocks for subset in block.subsets]
    sizes = range(1, min(depth, len(n_values)) + 1)
    wanted = [s for size in sizes for s in combinations(range(len(n_values)), size)]
    assert sorted(read) == sorted(wanted)


def test_sums_over_groups_are_those_of_a_plain_loop():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, n, 200) for n in (3, 2, 5)]
    grouping = build_grouping(codes, min_users=10)
    values = rng.random(200)
    for positions in ((0,), (2, 0), (0, 1, 2)):
        partition = Partition.of(grouping, positions)
        sums = partition.sums(grouping.cells.sums(values))
        rows = [tuple(codes[at][user] for at in positions) for user in range(200)]
        assert len(partition) == len({*rows})
        for position, combination in enumerate(partition.codes.tolist()):
            is_member = np.array([row == tuple(combination) for row in rows])
            assert np.isclose(sums[position], values[is_member].sum())


def some_cells(n_users: int, n_values: list[int], seed: int = 0) -> Cells:
    rng = np.random.default_rng(seed)
    codes = [(n * rng.random(n_users) ** 2).astype(np.int32) for n in n_values]
    return build_cells(codes, n_values)


def test_sampled_sets_tell_about_how_many_groups_there_are():
    cells = some_cells(3_000, [2, 3, 5, 8, 2, 4, 6, 3, 9, 2])
    n_groups = len(build_lattice(cells, 3, 30))
    sampled = groups_by_sampling(cells, 3, 30)
    assert 0.7 * n_groups < sampled - 3_000 // 30 < 1.4 * n_groups


def test_attributes_whose_combinations_cannot_fit_are_refused_before_they_are_laid_out():
    cells = some_cells(2_000, [3] * 60)
    with pytest.raises(InputError) as told, on_command_line():
        refuse_too_many(cells, 3, 10, n_metrics=1, asked=500_000_000)
    assert "groups of up to 3 of 60 attributes need about" in str(told.value)
    assert "Name fewer attributes in --by, combine fewer of them (--depth 2)" in str(told.value)
    # even their sets, whatever is in them
    with pytest.raises(InputError, match=r"^53,009,101 sets of up to 10 of 30 attributes need"):
        refuse_too_many(some_cells(500, [2] * 30), 10, 10, n_metrics=1, asked=10**9)
