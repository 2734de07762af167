from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from fairrec.statistics.draws import PermutedSums, ResampledSums, by_fours
from fairrec.statistics.moments import sampled_moments
from fairrec.statistics.strata import Strata
from tests.statistics.small_population import population, random_population


def test_every_metric_is_in_one_four_with_metrics_of_the_same_users():
    values = np.random.default_rng(0).random((7, 50))
    values[[1, 5], :10] = np.nan
    world = population([np.arange(50) % 3], values)
    fours = [*by_fours(world.moments)]
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
    drawn = PermutedSums(moments, world.grouping.cells).cell_sums(0, 3)
    expected = world.grouping.cells.sums(10.0**strata)
    assert drawn.total[0] == pytest.approx(expected)
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
