from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.groups.cells import cells_of, combination_keys


def slow_cells(codes: list[np.ndarray]) -> dict[tuple[int, ...], list[int]]:
    """Users by combination, the obvious way."""
    cells: dict[tuple[int, ...], list[int]] = {}
    for user, combination in enumerate(zip(*codes, strict=True)):
        cells.setdefault(tuple(int(code) for code in combination), []).append(user)
    return cells


def assert_equal_cells(codes: list[np.ndarray], n_values: list[int]) -> None:
    cells = cells_of(codes, n_values)
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


def test_neighbours_past_53_bits_keep_different_keys():
    n_values = [2**27, 2**27]
    codes = [np.full(2, 2**27 - 1, dtype=np.int32), np.array([0, 1], dtype=np.int32)]
    first, second = combination_keys(codes, n_values)[0]
    assert float(first) == float(second), "the case no longer reaches past 53 bits"
    assert first != second


def test_sums_add_up_per_cell():
    cells = cells_of([np.array([1, 0, 1], dtype=np.int32)], [2])
    assert cells.sums(np.array([1.0, 2.0, 4.0])).tolist() == [2.0, 1.0 + 4.0]
