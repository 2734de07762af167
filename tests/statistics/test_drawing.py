from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairrec.statistics.draws import (
    LEAST_USERS,
    PermutedSums,
    TableSums,
    choose_draws,
    cost_of_shuffle,
    cost_of_tables,
)
from tests.statistics.small_population import population


def world(n_users, n_cells, values):
    codes = np.arange(n_users) % n_cells
    return population([codes], values, min_users=1)


def test_few_cells_and_levels_are_drawn_as_tables():
    values = (np.arange(40_000) * 7 % 11 < 3).astype(float)
    found = world(40_000, 8, [values, 1 - values])
    assert isinstance(choose_draws(found.moments, found.grouping.cells), TableSums)


@pytest.mark.parametrize(
    ("n_users", "n_cells", "n_levels"),
    [(LEAST_USERS - 1, 2, 2), (40_000, 2_000, 40), (40_000, 8, 40_000)],
)
def test_few_users_many_cells_and_many_levels_are_shuffled(n_users, n_cells, n_levels):
    values = np.arange(n_users) % n_levels / n_levels
    found = world(n_users, n_cells, [values])
    assert isinstance(choose_draws(found.moments, found.grouping.cells), PermutedSums)


def test_metrics_that_are_not_defined_for_the_same_users_are_shuffled_together():
    values = np.tile((np.arange(40_000) % 2).astype(float), (2, 1))
    values[1, 0] = np.nan
    found = world(40_000, 8, values)
    assert isinstance(choose_draws(found.moments, found.grouping.cells), PermutedSums)


def test_counted_users_are_drawn_as_tables_whatever_it_costs():
    found = world(500, 100, [np.arange(500) % 50.0])
    levels = np.arange(500)[None] % 50
    moments = replace(found.moments, level_of_row=levels)
    assert isinstance(choose_draws(moments, found.grouping.cells), TableSums)


def test_the_cost_of_tables_follows_cells_and_levels_and_that_of_a_shuffle_users():
    costs = []
    for n_users in (20_000, 40_000):
        found = world(n_users, 10, [np.arange(n_users) // 10 % 2.0])
        tables = choose_draws(found.moments, found.grouping.cells)
        assert isinstance(tables, TableSums)
        costs.append((cost_of_tables(tables), cost_of_shuffle(found.moments)))
    assert costs[0][0] == costs[1][0]
    assert costs[1][1] == 2 * costs[0][1]
