from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from pytest import approx

from fairrec.statistics.draws import CellSums, PermutedSums
from fairrec.statistics.moments import group_moments
from fairrec.statistics.permutation import (
    Permuted,
    null_distribution,
)
from fairrec.statistics.strata import Strata
from tests.statistics.small_worlds import (
    permutation_test,
    population,
    random_population,
    score_by_own,
)


def run(world, n_permutations=99, seed=0, threads=1, higher_is_better=None):
    return permutation_test(
        *(world.moments, world.grouping, world.is_tested, n_permutations, seed, threads),
        higher_is_better=higher_is_better,
    )


class SlowScores(NamedTuple):
    """What a loop over groups has of one draw; (n_metrics, n_groups), 0 where not tested."""

    by_chance: np.ndarray
    by_own: np.ndarray

    @property
    def smaller(self):
        return np.where(np.abs(self.by_own) < np.abs(self.by_chance), self.by_own, self.by_chance)


def score_slowly(world, total, squares) -> SlowScores:
    """The scores of each group, from centred sums over cells; of metrics without upper bound."""
    moments, by_chance, by_own = world.moments, *np.zeros((2, *world.is_tested.shape))
    for metric, group in zip(*np.nonzero(world.is_tested), strict=True):
        n, n_users = moments.n[metric, group], moments.n_users[metric]
        if n == n_users:
            continue
        variance = moments.variance[metric]
        inside = np.zeros(len(world.grouping.cells), dtype=bool)
        inside[world.grouping.cells.of_user[world.users_in(group)]] = True
        means, sides = [], []
        for here, size in ((inside, n), (~inside, n_users - n)):
            means.append(total[metric, here].sum() / size)
            sides.append((size, squares[metric, here].sum() - size * means[-1] ** 2))
        difference = means[0] - means[1]
        by_chance[metric, group] = difference / np.sqrt(variance * (1 / n + 1 / (n_users - n)))
        by_own[metric, group] = score_by_own(difference, sides, variance)
    return SlowScores(by_chance, by_own)


def largest_slowly(columns, scores):
    """(2, n_columns), of those of a metric and depth, and of a size where columns have one."""
    largest = np.zeros((2, columns.n_columns))
    for metric, group in zip(*np.nonzero(scores), strict=True):
        tail, at = int(scores[metric, group] < 0), columns.of_group[metric, group]
        largest[tail, at] = max(largest[tail, at], abs(scores[metric, group]))
    return largest


@pytest.mark.parametrize("share_undefined", [0.0, 0.3])
def test_permutations_equal_a_slow_loop_over_groups(share_undefined):
    world = random_population(2, share_undefined=share_undefined)
    test = run(world, 20)
    draws = PermutedSums(world.moments, world.grouping.cells)
    is_full = world.lattice.is_full
    n_reached = np.zeros(world.is_tested.shape)
    for number in range(20):
        _, total, squares = draws.cell_sums(0, number)
        scores = score_slowly(world, total, squares)
        expected = largest_slowly(test.tested, scores.smaller)
        assert test.largest[number] == approx(expected, abs=1e-9)
        expected = largest_slowly(test.intervals, scores.by_own)
        assert test.largest_own[number] == approx(expected, abs=1e-9)
        n_reached += np.abs(scores.by_chance) >= np.abs(test.scores.smaller) - 1e-9
        for metric, is_tested in enumerate(world.is_tested):
            ends = np.flatnonzero(is_tested & is_full)
            means = [
                total[metric, np.unique(world.grouping.cells.of_user[world.users_in(group)])].sum()
                / world.moments.n[metric, group]
                for group in ends
            ]
            assert test.gaps[number, metric] == approx(np.ptp(means), abs=1e-12)
            span = np.ptp(scores.by_chance[metric, ends])
            assert test.spans[number, metric] == approx(span, abs=1e-9)
    assert (test.n_reached[world.is_tested] == n_reached[world.is_tested]).all()


def test_same_seed_same_numbers_on_any_number_of_threads():
    world = random_population(4)
    one, two = run(world, threads=1), run(world, threads=2)
    assert (one.largest == two.largest).all()
    assert (one.gaps == two.gaps).all()
    assert (one.n_reached == two.n_reached).all()
    assert (run(world, seed=1).largest != one.largest).any()


def with_observed(test):
    """The largest scores of draws, and of what is observed as one of them."""
    return np.concatenate([largest_slowly(test.tested, test.scores.smaller)[None], test.largest])


def test_ties_count_as_reached_whatever_the_order_of_summing():
    # equal values up to rounding: every permutation shows the observed gap
    values = np.array([0.1, 0.2, 0.3] * 20)
    world = population([np.repeat([0, 1], 30)], values)
    permuted = population([np.repeat([0, 1], 30)], values[::-1].copy())
    for case in (world, permuted):
        assert run(case).p_values.max() <= 1
    constant = population([np.repeat([0, 1, 2], 20)], np.full(60, 0.1))
    assert run(constant).p_values.min() == 1.0
    assert run(constant).adjusted_p_values.min() == 1.0


@pytest.mark.parametrize("better", [None, [True, False, None]])
def test_critical_is_where_significance_begins(better):
    test = run(random_population(7), 199, higher_is_better=better)
    is_tested = test.tested.of_group >= 0
    for alpha in (0.05, 0.2):
        critical = test.critical(alpha)
        assert critical.shape == (2, *is_tested.shape)
        assert np.isinf(critical[:, ~is_tested]).all()
        # draws with a score beyond its critical value are as many as alpha allows
        by_column = np.zeros((2, test.tested.n_columns))
        by_column[:, test.tested.of_group[is_tested]] = critical[:, is_tested]
        rows = with_observed(test)
        assert (rows > by_column + 1e-8).any(axis=(1, 2)).sum() <= alpha * 200
        assert (rows >= by_column - 1e-8).any(axis=(1, 2)).sum() >= alpha * 200
        scores = test.scores.smaller
        is_beyond = np.abs(scores) > np.where(scores > 0, *critical)
        assert (is_beyond == (test.adjusted_p_values <= alpha)).all()


def test_draws_of_workers_are_those_of_this_process():
    world = random_population(4)
    null = Permuted(world.moments, world.grouping, world.is_tested, [None] * 3)
    told = []
    here = null_distribution(null, 130, seed=3)
    with ThreadPoolExecutor(2) as executor:
        there = null_distribution(null, 130, 3, executor=executor, advance=told.append)
    for name in ("largest", "largest_own", "gaps", "spans", "n_reached"):
        assert np.array_equal(getattr(here, name), getattr(there, name), equal_nan=True)
    assert told == [50, 50, 30]


class AsObserved:
    """In the place of draws: what is observed."""

    def __init__(self, world, moments):
        cells = world.grouping.cells
        rows = moments.n_per_row, moments.centred_per_row, moments.centred_per_row**2
        self.sums = CellSums(*(np.array([cells.sums(row) for row in part]) for part in rows))

    def cell_sums(self, seed, number):
        return self.sums


@pytest.mark.parametrize("with_strata", [False, True])
@pytest.mark.parametrize("is_rate", [False, True])
def test_what_is_observed_is_scored_as_a_draw_would_be(with_strata, is_rate):
    world = random_population(3)
    values = (world.values > 0.9).astype(float) if is_rate else world.values
    strata = Strata(np.arange(values.shape[1]) % 4, 4) if with_strata else None
    bounds = np.tile([0.0, 1.0], (len(values), 1)) if is_rate else None
    moments = group_moments(values, world.grouping, bounds=bounds, strata=strata)
    null = Permuted(moments, world.grouping, world.is_tested, [True] * len(values))
    null._draws = AsObserved(world, moments)
    scores = null.scores.by_chance if null.is_by_chance else null.scores.smaller
    assert null.draw(0, 0).largest == approx(null.tested.largest(scores), abs=1e-9)
    # and no group is tested by more than that
    assert (np.abs(null.scores.smaller) <= np.abs(scores) + 1e-12).all()
