from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.groups.cells import Cells, cells_of
from fairrec.groups.grouping import groups_by_sampling, most_groups, refuse_too_many
from fairrec.groups.lattice import build_lattice
from tests.grouped_options import on_command_line


def some_cells(n_users: int, n_values: list[int], seed: int = 0) -> Cells:
    rng = np.random.default_rng(seed)
    codes = [(n * rng.random(n_users) ** 2).astype(np.int32) for n in n_values]
    return cells_of(codes, n_values)


@given(
    st.integers(1, 200),
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
    st.integers(1, 4),
    st.integers(1, 30),
    st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_there_are_never_more_groups_than_said(n_users, n_values, depth, min_users, seed):
    cells = some_cells(n_users, n_values, seed)
    depth = min(depth, len(n_values))
    assert len(build_lattice(cells, depth, min_users)) <= most_groups(cells, depth, min_users)


def test_sampled_sets_tell_about_how_many_groups_there_are():
    cells = some_cells(3_000, [2, 3, 5, 8, 2, 4, 6, 3, 9, 2])
    n_groups = len(build_lattice(cells, 3, 30))
    sampled = groups_by_sampling(cells, 3, 30)
    assert 0.7 * n_groups < sampled - 3_000 // 30 < 1.4 * n_groups
    assert sampled < most_groups(cells, 3, 30)


def test_attributes_whose_combinations_cannot_fit_are_refused_before_they_are_laid_out():
    cells = some_cells(2_000, [3] * 60)
    with pytest.raises(InputError) as told, on_command_line():
        refuse_too_many(cells, 3, 10, n_metrics=1, asked=500_000_000)
    assert "groups of up to 3 of 60 attributes need about" in str(told.value)
    assert "Name fewer attributes in --by, combine fewer of them (--depth 2)" in str(told.value)
    # even their sets, whatever is in them
    with pytest.raises(InputError, match=r"^53,009,101 sets of up to 10 of 30 attributes need"):
        refuse_too_many(some_cells(500, [2] * 30), 10, 10, n_metrics=1, asked=10**9)


def test_what_fits_is_not_refused():
    cells = some_cells(2_000, [3] * 60)
    refuse_too_many(cells, 2, 10, n_metrics=1, asked=500_000_000)
    refuse_too_many(cells, None, 10, n_metrics=1, asked=500_000_000)
    refuse_too_many(cells, 3, 10, n_metrics=1, asked=10**11)


def test_more_than_could_be_is_looked_into_before_it_is_refused():
    # the sets could have many groups, and have few: nearly everybody is alike
    rng = np.random.default_rng(0)
    codes = [
        np.where(rng.random(50_000) < 0.995, 0, rng.integers(0, 40, 50_000)) for _ in range(40)
    ]
    cells = cells_of([column.astype(np.int32) for column in codes], [40] * 40)
    assert most_groups(cells, 3, 1) > 10**8
    refuse_too_many(cells, 3, 50, n_metrics=1, asked=10**9)
