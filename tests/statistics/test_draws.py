from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest

from fairrec.statistics.draws import (
    PermutedSums,
    ResampledSums,
    TableSums,
    choose_draws,
    random_table,
)
from fairrec.statistics.moments import sampled_moments
from fairrec.statistics.strata import Strata
from tests.statistics.small_worlds import population


def test_every_arrangement_is_equally_likely():
    # 4 users in cells of 2 and 2: each of the 6 pairs lands in the first cell equally often
    world = population([[0, 0, 1, 1]], [[1.0, 2.0, 4.0, 8.0]])
    moments = replace(world.moments, centred_per_row=world.values)
    draws = PermutedSums(moments, world.grouping.cells)
    seen = [draws.cell_sums(0, number).total[0, 0] for number in range(6000)]
    for pair in combinations([1.0, 2.0, 4.0, 8.0], 2):
        # 6 standard errors of a share of 1/6
        assert np.mean(np.equal(seen, sum(pair))) == pytest.approx(1 / 6, abs=6 * 0.0048)


def test_a_resample_draws_scored_values_for_everyone_and_the_sample_is_a_part_of_it():
    world = population([[0] * 6 + [1] * 4], [[1.0] * 10])
    is_scored = np.array([1, 1, 1, 1, 1, 1, 1, 1, 0, 0], dtype=bool)
    is_reference = np.array([1, 0, 0, 0, 0, 0, 1, 1, 0, 0], dtype=bool)
    values = np.where(is_scored, world.values, np.nan)
    moments = sampled_moments(values, is_scored, is_reference, world.grouping)
    # with the value 1 for every scored user, sums count the users
    moments = replace(moments, centred_per_row=moments.n_per_row.astype(np.float64))
    draws = ResampledSums(moments, moments.sample, world.grouping.cells)
    drawn = draws.cell_sums(0, 0)
    for sums in drawn[0]:
        assert sums.tolist() == [[6, 4]]
    for sums in drawn[1]:
        assert sums.tolist() == [[1, 2]]


def on_levels(moments):
    """The same with a level for each value."""
    levels = [np.unique(row, return_inverse=True)[1] for row in moments.centred_per_row]
    return replace(moments, level_of_row=np.array(levels))


@pytest.mark.parametrize("is_turned", [False, True])
def test_tables_come_up_as_often_as_permutations_give_them(is_turned):
    # four users in places of 1, 1 and 2; two of them on the first of two levels
    sizes, totals = np.array([1, 1, 2]), np.array([2, 2])
    expected: Counter[tuple[int, ...]] = Counter()
    for order in permutations([0, 0, 1, 1]):
        expected[order[0], order[1], order[2] + order[3]] += 1
    rng, n_draws = np.random.default_rng(0), 20_000
    found: Counter[tuple[int, ...]] = Counter()
    for _ in range(n_draws):
        if is_turned:
            table = random_table(totals, sizes, rng).T
        else:
            table = random_table(sizes, totals, rng)
        found[tuple(table[:, 1].tolist())] += 1
    assert found.keys() == expected.keys()
    for table, n in expected.items():
        assert found[table] / n_draws == pytest.approx(n / 24, abs=0.015)


def test_sums_of_tables_and_of_shuffled_users_have_the_same_distribution():
    rng = np.random.default_rng(1)
    n = 600
    codes = [np.minimum(rng.geometric(0.4, n) - 1, 4)]
    values = rng.choice([0.0, 0.2, 0.7, 1.0], (2, n), p=[0.5, 0.3, 0.15, 0.05])
    strata = Strata(rng.integers(0, 2, n).astype(np.int32), 2)
    world = population(codes, values)
    moments = replace(world.moments, strata=strata)
    cells = world.grouping.cells
    shuffled, tables = PermutedSums(moments, cells), TableSums(on_levels(moments), cells)
    drawn = {
        name: np.array([np.concatenate(draws.cell_sums(0, i)[1:]) for i in range(1500)])
        for name, draws in (("shuffled", shuffled), ("tables", tables))
    }
    assert (shuffled.cell_sums(0, 0).n == tables.cell_sums(0, 0).n).all()
    first, second = drawn["shuffled"], drawn["tables"]
    error = np.sqrt((first.var(axis=0) + second.var(axis=0)) / 1500) + 1e-9
    assert (np.abs(first.mean(axis=0) - second.mean(axis=0)) < 4.5 * error).all()
    assert second.std(axis=0) == pytest.approx(first.std(axis=0), rel=0.12)
    for share in (0.05, 0.95):
        low, high = (np.quantile(one, share, axis=0) for one in (first, second))
        assert np.abs(low - high).max() < 0.25 * first.std(axis=0).max()


def world(n_users, n_cells, values):
    codes = np.arange(n_users) % n_cells
    return population([codes], values, min_users=1)


def test_few_cells_and_levels_are_drawn_as_tables():
    values = (np.arange(40_000) * 7 % 11 < 3).astype(float)
    found = world(40_000, 8, [values, 1 - values])
    assert isinstance(choose_draws(found.moments, found.grouping.cells), TableSums)
