from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest

from fairrec.statistics.draws import (
    LEAST_USERS,
    PermutedSums,
    ResampledSums,
    TableSums,
    choose_draws,
    cost_of_shuffle,
    cost_of_tables,
    iterate_fours,
    iterate_rounds,
    random_table,
)
from fairrec.statistics.moments import sampled_moments
from fairrec.statistics.strata import Strata
from tests.statistics.small_worlds import population, random_population


def test_every_metric_is_in_one_four_with_metrics_of_the_same_users():
    values = np.random.default_rng(0).random((7, 50))
    values[[1, 5], :10] = np.nan
    world = population([np.arange(50) % 3], values)
    fours = [*iterate_fours(world.moments)]
    assert sorted(int(i) for four in fours for i in four.metrics) == [*range(7)]
    assert [four.metrics.tolist() for four in fours] == [[0, 2, 3, 4], [6], [1, 5]]
    for four in fours:
        for column, metric in enumerate(four.metrics):
            assert (four.is_defined == world.moments.n_per_row[metric]).all()
            assert (four.rows[:, column] == world.moments.centred_per_row[metric]).all()
        assert (four.rows[:, len(four.metrics) :] == 0).all()


@pytest.mark.parametrize("share_undefined", [0.0, 0.4])
def test_a_permutation_keeps_every_value_and_every_group_size(share_undefined):
    world = random_population(3, share_undefined=share_undefined)
    cells, moments = world.grouping.cells, world.moments
    sums = PermutedSums(moments, cells).cell_sums(5, 7)
    values = moments.centred_per_row
    assert sums.total.sum(axis=1) == pytest.approx(values.sum(axis=1), abs=1e-9)
    assert sums.squares.sum(axis=1) == pytest.approx((values**2).sum(axis=1), abs=1e-9)
    assert sums.n.tolist() == [cells.sums(row).tolist() for row in moments.n_per_row]
    # with the value 1 for everyone, a cell gets as many as it has places
    counting = moments.n_per_row.astype(np.float64)
    counted = PermutedSums(replace(moments, centred_per_row=counting), cells)
    assert counted.cell_sums(5, 7).total.tolist() == sums.n.tolist()
    assert counted.cell_sums(5, 7).squares.tolist() == sums.n.tolist()


def test_in_strata_values_stay_with_users_in_the_same_circumstances():
    rng = np.random.default_rng(0)
    codes, strata = rng.integers(0, 3, 90), rng.integers(0, 4, 90).astype(np.int32)
    # a value says which stratum it is from
    world = population([codes], [10.0**strata])
    moments = replace(
        world.moments, centred_per_row=world.values, strata=Strata(strata, n_strata=4)
    )
    cells = world.grouping.cells
    for draws in (PermutedSums(moments, cells), TableSums(on_levels(moments), cells)):
        assert draws.cell_sums(0, 3).total[0] == pytest.approx(cells.sums(10.0**strata))
    # within a stratum they do change places
    within = replace(moments, centred_per_row=rng.random((1, 90)))
    draws = PermutedSums(within, world.grouping.cells)
    assert (draws.cell_sums(0, 3).total != draws.cell_sums(0, 4).total).all()


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


@pytest.mark.parametrize(("n_places", "n_levels"), [(5, 3), (3, 5), (1, 4), (4, 1)])
def test_a_table_has_the_margins_it_is_drawn_for(n_places, n_levels):
    rng = np.random.default_rng(n_places)
    sizes = rng.multinomial(200, np.ones(n_places) / n_places)
    totals = rng.multinomial(200, np.ones(n_levels) / n_levels)
    table = random_table(sizes, totals, rng)
    assert table.sum(axis=1).tolist() == sizes.tolist()
    assert table.sum(axis=0).tolist() == totals.tolist()


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


def test_metrics_on_the_same_levels_share_a_table():
    values = np.tile([0.0, 1.0, 1.0], 30)
    world = population([np.arange(90) % 4], [values, 2 * values, values**2])
    moments = on_levels(world.moments)
    (one,) = iterate_rounds(moments)
    assert one.metrics.tolist() == [0, 1, 2]
    total = TableSums(moments, world.grouping.cells).cell_sums(0, 0).total
    assert total[1] == pytest.approx(2 * total[0])
    apart = replace(moments, level_of_row=moments.level_of_row + np.array([[0], [1], [2]]))
    total = TableSums(apart, world.grouping.cells).cell_sums(0, 0).total
    assert total[1] != pytest.approx(2 * total[0])


def test_users_without_a_value_are_dealt_nothing():
    values = np.array([[0.0, 1.0, np.nan, 1.0, np.nan, 0.0]])
    world = population([[0, 0, 0, 1, 1, 1]], values)
    draws = TableSums(on_levels(world.moments), world.grouping.cells)
    assert draws.cell_sums(0, 0).n.tolist() == [[2, 2]]
    (margins,) = draws.margins
    assert (margins.sizes.tolist(), margins.totals.tolist()) == ([2, 2], [2, 2])
    assert margins.n_entries == 4


def test_a_draw_has_its_own_numbers():
    world = population([np.arange(60) % 3], [np.arange(60) % 5.0])
    draws = TableSums(on_levels(world.moments), world.grouping.cells)
    again = TableSums(on_levels(world.moments), world.grouping.cells)
    assert (draws.cell_sums(0, 7).total == again.cell_sums(0, 7).total).all()
    assert (draws.cell_sums(0, 7).total != draws.cell_sums(0, 8).total).any()
    assert (draws.cell_sums(0, 7).total != draws.cell_sums(1, 7).total).any()


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
