from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.groups.cells import cells_of
from fairrec.groups.lattice import ANY, build_lattice, members


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
    cells = cells_of(codes, n_values)
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
    found = build_lattice(cells_of(codes, n_values), depth, min_users, 1, room, together)

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


def test_a_sparse_space_costs_what_its_users_cost():
    # 10^12 possible triples: laid out densely they would not fit any memory
    rng = np.random.default_rng(0)
    n_values = [10_000] * 3
    codes = [rng.integers(0, 10_000, 5000).astype(np.int32) for _ in n_values]
    codes[0][:100], codes[1][:100], codes[2][:100] = 7, 8, 9
    lattice = build_lattice(cells_of(codes, n_values), 3, 100)
    groups = {tuple(row) for row in lattice.codes.tolist()}
    assert (7, 8, 9) in groups
    assert (7, ANY, 9) in groups
    assert len(groups) == 7


def test_the_right_group_is_named_past_63_bits():
    rng = np.random.default_rng(1)
    n_values = [2**31 - 1] * 4
    codes = [rng.integers(0, 2**31 - 1, 300).astype(np.int32) for _ in n_values]
    for column in codes:
        column[:20] = 2**31 - 2
    codes[3][10:20] = 2**31 - 3
    lattice = build_lattice(cells_of(codes, n_values), None, 10)
    top = 2**31 - 2
    assert sorted(map(tuple, lattice.codes.tolist())) == [
        (top, top, top, top - 1),
        (top, top, top, top),
    ]


def test_support_never_grows_as_a_group_narrows():
    rng = np.random.default_rng(2)
    codes = [rng.integers(0, 3, 500).astype(np.int32) for _ in range(4)]
    lattice = build_lattice(cells_of(codes, [3] * 4), 3, 1)
    n_users = {
        tuple(row): n for row, n in zip(lattice.codes.tolist(), lattice.n_users, strict=True)
    }
    for group, n in n_users.items():
        for attribute in np.flatnonzero(np.array(group) != ANY):
            wider = list(group)
            wider[attribute] = ANY
            if tuple(wider) in n_users:
                assert n_users[tuple(wider)] >= n


def test_members_are_the_cells_that_meet_all_conditions():
    codes = [np.array([0, 0, 1], dtype=np.int32), np.array([0, 1, 1], dtype=np.int32)]
    cells = cells_of(codes, [2, 2])
    assert members([0, ANY], cells).tolist() == [True, True, False]
    assert members([0, 1], cells).tolist() == [False, True, False]
