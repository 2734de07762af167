from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.core.engines.local import LocalEngine
from fairrec.statistics.draws import PermutedSums
from fairrec.statistics.permutation import Extremes, Permuted, gap_p_value, null_distribution
from tests.statistics.small_population import permutation_test, population, random_population


def run(world, n_permutations=99, seed=0, threads=1):
    return permutation_test(
        world.moments, world.grouping, world.is_tested, n_permutations, seed, threads
    )


def test_statistic_is_the_difference_over_its_chance_error():
    world = random_population(1)
    score = run(world, 1).scores.by_chance
    expected = world.moments.difference / world.moments.chance_error
    assert score[world.is_tested] == pytest.approx(expected[world.is_tested], abs=1e-9)


@pytest.mark.parametrize("share_undefined", [0.0, 0.3])
def test_permutations_equal_a_slow_loop_over_groups(share_undefined):
    world = random_population(2, share_undefined=share_undefined)
    test = run(world, 20)
    draws = PermutedSums(world.moments, world.grouping.cells)
    full = np.flatnonzero(world.lattice.is_full)
    for number in range(20):
        cell_sums = draws.cell_sums(0, number).total
        largest, gaps, spans = [0.0, 0.0], [], []
        for metric in range(len(world.values)):
            means, scores = [], []
            for group in range(len(world.lattice)):
                if not world.is_tested[metric, group]:
                    continue
                in_group = np.unique(world.grouping.cells.of_user[world.users_in(group)])
                n, n_users = world.moments.n[metric, group], world.moments.n_users[metric]
                mean = cell_sums[metric, in_group].sum() / n
                if group in full:
                    means.append(mean)
                score = 0.0
                if n < n_users:
                    score = mean / (world.moments.sd[metric] * np.sqrt(1 / n - 1 / n_users))
                    tail = int(score < 0)
                    largest[tail] = max(largest[tail], abs(score))
                if group in full:
                    scores.append(score)
            gaps.append(max(means) - min(means))
            spans.append(max(scores) - min(scores))
        assert test.largest[number] == pytest.approx(largest, abs=1e-9)
        assert test.gaps[number] == pytest.approx(gaps, abs=1e-12)
        assert test.spans[number] == pytest.approx(spans, abs=1e-9)


def test_same_seed_same_numbers_on_any_number_of_threads():
    world = random_population(4)
    one, two = run(world, threads=1), run(world, threads=2)
    assert (one.largest == two.largest).all()
    assert (one.gaps == two.gaps).all()
    assert (one.n_reached == two.n_reached).all()
    assert (run(world, seed=1).largest != one.largest).any()


def test_p_values_count_the_permutations_at_or_beyond_the_observed():
    world = random_population(5)
    test = run(world, 99)
    for tail, sign in enumerate((1, -1)):
        group = int(np.argmax(sign * test.scores.smaller[0]))
        score = abs(test.scores.smaller[0, group])
        assert test.adjusted_p_values[0, group] == adjusted_slowly(test, tail, score)
        by_chance = abs(test.scores.by_chance[0, group])
        assert by_chance >= score
        assert test.adjusted_p_values_by_chance[0, group] == adjusted_slowly(test, tail, by_chance)
    gaps = Extremes(world.lattice, world.is_tested).range_of(world.moments.deviation)
    assert (
        gap_p_value(test.gaps[:, 1], gaps[1])
        == (1 + (test.gaps[:, 1] >= gaps[1] - 1e-9).sum()) / 100
    )


def test_the_range_is_that_of_the_full_combinations_which_are_tested():
    codes = [np.array([0, 0, 1, 1, 2, 2])]
    world = population(codes, np.arange(6.0)[None], min_users=1)
    assert world.lattice.is_full.all()
    values = np.array([[5.0, -1.0, 9.0], [4.0, 1.0, np.nan], [1.0, 2.0, 3.0]])
    is_tested = np.array([[True, True, False], [True, True, True], [False, False, False]])
    ends = Extremes(world.lattice, is_tested)
    assert ends.range_of(values) == approx([6.0, np.nan, np.nan], nan_ok=True)
    # what has no scale counts as 0
    scale = np.array([[2.0, 0.0, 1.0]] * 3)
    assert ends.range_of(values, scale)[0] == 2.5


def with_observed(test):
    """The largest scores of draws, and of what is observed as one of them."""
    by_chance = test.scores.by_chance
    return np.vstack([[by_chance.max(), -by_chance.min()], test.largest])


def adjusted_slowly(test, tail, score):
    """How often a draw is as rare in one of the tails as a score is in its own."""
    rows = with_observed(test)
    reached = (rows[:, tail] >= score - 1e-9).sum()
    rarest = [min((rows >= one - 1e-9).sum(axis=0)) for one in rows]
    return np.mean([place <= reached for place in rarest])


def test_a_tail_in_which_nothing_is_rare_takes_nothing_from_the_other():
    # that a group of three has none of eight hits is frequent, that one has seven is not
    hits = np.zeros(60)
    hits[[*range(7), 20]] = 1
    test = run(population([np.repeat([0, 1, 2], 20)], hits), 999)
    assert (test.largest[:, 1] == test.largest[:, 1].max()).mean() > 0.05
    assert test.adjusted_p_values[0, 0] == pytest.approx(test.p_values[0, 0], abs=0.002)
    assert test.adjusted_p_values[0, 0] < 0.01
    assert abs(test.scores.smaller[0, 0]) > test.critical(0.05)[0]


def test_two_values_of_one_attribute_are_one_difference():
    rng = np.random.default_rng(3)
    world = population([np.repeat([0, 1], 30)], rng.exponential(size=60))
    test = run(world, 199)
    assert test.adjusted_p_values == pytest.approx(test.p_values)
    assert 0.005 < test.adjusted_p_values.min() < 1


def test_adjusted_is_never_below_unadjusted():
    test = run(random_population(6))
    assert (test.adjusted_p_values >= test.p_values - 1e-12).all()


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


def test_critical_is_where_significance_begins():
    test = run(random_population(7), 199)
    # in either tail, but for the last digits
    rows, critical = with_observed(test), test.critical(0.05)
    assert (rows >= critical - 1e-8).any(axis=1).sum() > 0.05 * 200
    assert (rows > critical + 1e-8).any(axis=1).sum() <= 0.05 * 200


def test_too_few_permutations_make_nothing_significant():
    assert (run(random_population(8), 18).critical(0.05) == np.inf).all()


def test_draws_of_workers_are_those_of_this_process():
    world = random_population(4)
    null = Permuted(world.moments, world.grouping, world.is_tested)
    told = []
    here = null_distribution(null, 130, seed=3)
    there = null_distribution(null, 130, 3, engine=LocalEngine(2), advance=told.append)
    for name in ("largest", "largest_own", "gaps", "spans", "n_reached"):
        assert np.array_equal(getattr(here, name), getattr(there, name), equal_nan=True)
    assert told == [50, 50, 30]
