from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from fairrec.statistics.permutation import _Dealer, observed_gaps, permutation_test
from tests.statistics.small_population import population, random_population


def run(world, n_permutations=99, seed=0, threads=1):
    return permutation_test(
        world.moments, world.cells, world.lattice, world.is_tested, n_permutations, seed, threads
    )


def dealer_of(world):
    return _Dealer(world.moments.centred_per_user, world.moments.is_defined, world.cells)


def test_statistic_is_the_difference_over_its_chance_error():
    world = random_population(1)
    statistic = run(world, 1).statistic
    expected = world.moments.difference / world.moments.chance_error
    assert statistic[world.is_tested] == pytest.approx(expected[world.is_tested], abs=1e-9)


@pytest.mark.parametrize("share_undefined", [0.0, 0.3])
def test_permutations_equal_a_slow_loop_over_groups(share_undefined):
    world = random_population(2, share_undefined=share_undefined)
    test = run(world, 20)
    dealer = dealer_of(world)
    full = np.flatnonzero(world.lattice.is_full)
    for number in range(20):
        cell_sums = dealer.cell_sums(0, number)
        largest, gaps = 0.0, []
        for metric in range(len(world.values)):
            means = []
            for group in range(len(world.lattice)):
                if not world.is_tested[metric, group]:
                    continue
                in_group = np.unique(world.cells.of_user[world.users_in(group)])
                n, n_users = world.moments.n[metric, group], world.moments.n_users[metric]
                mean = cell_sums[metric, in_group].sum() / n
                if group in full:
                    means.append(mean)
                if n < n_users:
                    error = world.moments.sd[metric] * np.sqrt(1 / n - 1 / n_users)
                    largest = max(largest, abs(mean) / error)
            gaps.append(max(means) - min(means))
        assert test.largest[number] == pytest.approx(largest, abs=1e-9)
        assert test.gaps[number] == pytest.approx(gaps, abs=1e-12)


@pytest.mark.parametrize("share_undefined", [0.0, 0.4])
def test_dealing_keeps_every_value_and_every_group_size(share_undefined):
    world = random_population(3, share_undefined=share_undefined)
    sums = dealer_of(world).cell_sums(5, 7)
    assert sums.sum(axis=1) == pytest.approx(world.moments.centred_per_user.sum(axis=1), abs=1e-9)
    # with the value 1 for everyone, a cell is dealt as many as it has places
    counting = world.moments.is_defined.astype(np.float64)
    dealer = _Dealer(counting, world.moments.is_defined, world.cells)
    assert dealer.cell_sums(5, 7).tolist() == [
        world.cells.sums(defined).tolist() for defined in counting
    ]


def test_every_arrangement_is_equally_likely():
    # 4 users in cells of 2 and 2: each of the 6 pairs lands in the first cell equally often
    world = population([[0, 0, 1, 1]], [[1.0, 2.0, 4.0, 8.0]])
    dealer = _Dealer(world.values, world.moments.is_defined, world.cells)
    seen = [dealer.cell_sums(0, number)[0, 0] for number in range(6000)]
    for pair in combinations([1.0, 2.0, 4.0, 8.0], 2):
        # 6 standard errors of a share of 1/6
        assert np.mean(np.equal(seen, sum(pair))) == pytest.approx(1 / 6, abs=6 * 0.0048)


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
    metric, group = 0, int(np.argmax(np.abs(test.statistic[0])))
    reached = (test.largest >= abs(test.statistic[metric, group]) - 1e-9).sum()
    assert test.adjusted_p_values[metric, group] == (1 + reached) / 100
    gaps = observed_gaps(world.moments, world.lattice, world.is_tested)
    assert test.gap_p_values(gaps)[1] == (1 + (test.gaps[:, 1] >= gaps[1] - 1e-9).sum()) / 100


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
    critical = test.critical(0.05)
    assert (test.largest >= critical).sum() + 1 > 0.05 * 200
    assert (test.largest > critical).sum() + 1 <= 0.05 * 200


def test_too_few_permutations_make_nothing_significant():
    assert run(random_population(8), 9).critical(0.05) == np.inf
