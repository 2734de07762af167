"""What makes the difference of a finding: the combination of conditions, or a covariate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from fairrec.statistics.explanations import (
    NEIGHBOUR_PRIOR_USERS,
    BinnedCovariate,
    find_confounders,
    interactions,
)
from tests.groups.small_grouping import build_grouping
from tests.statistics.small_worlds import analysis_of, measured_as
from tests.worlds import over_worlds


def interaction_of(codes, values, group, *, min_users=1, not_scored=()):
    """Of the group with these codes, for the only metric."""
    grouping = build_grouping(codes, min_users=min_users, depth=len(codes))
    measured = measured_as("mrr", values)
    is_scored = ~np.isin(np.arange(len(measured.is_scored)), not_scored)
    values = np.where(is_scored, measured.values, np.nan)
    measured = replace(measured, values=values, is_scored=is_scored)
    position = grouping.lattice.codes.tolist().index(list(group))
    (found,) = interactions(0, [position], measured, grouping)
    return found


def table(sizes, means):
    """Two attributes of two values, (0, 0), (0, 1), (1, 0), (1, 1), and values around the means."""
    codes = np.repeat([[0, 0, 1, 1], [0, 1, 0, 1]], sizes, axis=1)
    noise = np.concatenate([np.resize([0.1, -0.1], size) for size in sizes])
    return list(codes), np.repeat(means, sizes) + noise


@pytest.mark.parametrize(
    ("means", "carried_by", "alone"),
    [
        # women of 56+, women, men of 56+, all others
        ([0.2, 0.6, 0.6, 0.6], "the combination", ()),
        ([0.2, 0.5, 0.6, 0.6], "the combination", ("a",)),
        ([0.2, 0.4, 0.4, 0.6], "each condition by itself", ("a", "b")),
        ([0.2, 0.2, 0.6, 0.6], "each condition by itself", ("a",)),
        ([0.2, 0.6, 0.25, 0.6], "each condition by itself", ("b",)),
        # either condition makes it worse, and both are no worse than one
        ([0.2, 0.2, 0.2, 0.6], "each condition by itself", ("a", "b")),
        # where neither is met it is as bad as where both are
        ([0.2, 0.6, 0.6, 0.2], "the combination", ()),
        # served better: the same the other way round
        ([0.9, 0.6, 0.6, 0.6], "the combination", ()),
        ([0.9, 0.75, 0.75, 0.6], "each condition by itself", ("a", "b")),
        # one condition does the opposite by itself
        ([0.2, 0.7, 0.6, 0.6], "the combination", ()),
    ],
)
def test_what_carries_a_difference(means, carried_by, alone):
    found = interaction_of(*table([200, 200, 200, 400], means), (0, 0))
    assert (found.carried_by, found.alone) == (carried_by, alone)
    assert [*found.neighbours[0].is_met] == ["a", "b"]
    both, one, other, neither = means
    assert found.excess == approx(both - one - other + neither)


def test_neighbours_by_hand():
    codes, values = table([4, 6, 8, 10], [0.2, 0.6, 0.7, 0.8])
    found = interaction_of(codes, values, (0, 0))
    rows = found.neighbours
    assert [(*row.is_met.values(),) for row in rows] == [
        (True, True),
        (True, False),
        (False, True),
        (False, False),
    ]
    assert [row.n_users for row in rows] == [4, 6, 8, 10]
    assert [row.value for row in rows] == approx([0.2, 0.6, 0.7, 0.8])
    # drawn to the variance of all users with the weight of a few
    of_all = NEIGHBOUR_PRIOR_USERS * values.var(ddof=1)
    errors = [
        np.sqrt((0.01 * n + of_all) / (n - 1 + NEIGHBOUR_PRIOR_USERS) / n) for n in (4, 6, 8, 10)
    ]
    assert [row.error for row in rows] == approx(errors)
    assert found.error == approx(np.sqrt(np.square(errors).sum()))


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 5))
def test_neighbours_are_the_users_who_meet_exactly_these_conditions(seed, k):
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, 3, 200) for _ in range(k)]
    values = rng.random(200)
    values[rng.random(200) < 0.1] = np.nan
    group = [column[0] for column in codes]
    values[0] = 0.5
    found = interaction_of(codes, values, group)
    is_met = np.array([column == code for column, code in zip(codes, group, strict=True)])
    for row in found.neighbours:
        inside = (is_met == np.array([*row.is_met.values()])[:, None]).all(axis=0) & ~np.isnan(
            values
        )
        assert row.n_users == inside.sum()
        if inside.any():
            assert row.value == approx(values[inside].mean())
        else:
            assert (row.value, row.error) == (None, None)
    assert len({(*row.is_met.values(),) for row in found.neighbours}) == len(found.neighbours) <= 8
    assert all(found.neighbours[0].is_met.values())
    assert not any(found.neighbours[-1].is_met.values())


def world(n_users, effect, k, seed=0):
    """Attributes of two values each, and an effect on values of deviation 1."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, 2, n_users) for _ in range(k)]
    is_met = np.array([column == 0 for column in codes])
    return codes, rng.normal(size=n_users) - effect(is_met)


def test_three_conditions_together_or_each_by_itself():
    together = world(4000, lambda is_met: is_met.all(axis=0), 3)
    assert interaction_of(*together, (0, 0, 0)).carried_by == "the combination"
    added = world(4000, lambda is_met: 0.5 * is_met.sum(axis=0), 3)
    found = interaction_of(*added, (0, 0, 0))
    assert (found.carried_by, found.alone) == ("each condition by itself", ("a", "b", "c"))
    # two of them together, and the third by itself
    mixed = world(4000, lambda is_met: is_met[:2].all(axis=0) + 0.4 * is_met[2], 3)
    found = interaction_of(*mixed, (0, 0, 0))
    assert (found.carried_by, found.alone) == ("the combination", ("c",))


def added(is_met):
    return 0.35 * is_met.sum(axis=0)


def one_of_two(is_met):
    return 0.35 * is_met[0]


def together(is_met):
    return 0.5 * is_met.all(axis=0)


@over_worlds(200)
@pytest.mark.parametrize(
    ("effect", "truth"),
    [
        (together, "the combination"),
        (added, "each condition by itself"),
        (one_of_two, "each condition by itself"),
    ],
)
def test_over_many_worlds_the_right_word_is_said_and_hardly_ever_the_other(effect, truth, n_worlds):
    words = [
        interaction_of(*world(1000, effect, 2, seed), (0, 0)).carried_by for seed in range(n_worlds)
    ]
    assert words.count(truth) >= 0.9 * n_worlds
    assert n_worlds - words.count(truth) - words.count("not certain which") <= 0.05 * n_worlds


N_USERS = 1000


def counted(numbers, is_of_lists: bool = False) -> BinnedCovariate:
    values, codes = np.unique(numbers, return_inverse=True)
    return BinnedCovariate("length", numbers, codes.astype(np.int32), len(values), is_of_lists)


def told(values, is_member, numbers, at_random=None, is_of_lists=False):
    analysis = analysis_of([~is_member], "mrr@5", values, min_users=10)
    group = analysis.grouping.lattice.codes.tolist().index([0])
    return find_confounders(analysis, [[group]], [counted(numbers, is_of_lists)], at_random)


def leaning_world(seed: int, lean: float, slope: float, harm: float):
    """Members have the number 1 more often by the lean; values grow with it by the slope."""
    rng = np.random.default_rng(seed)
    is_member = rng.random(N_USERS) < 0.2
    numbers = (rng.random(N_USERS) < np.where(is_member, 0.5 + lean, 0.5 - lean)).astype(np.int64)
    values = slope * numbers - harm * is_member + rng.normal(size=N_USERS)
    return values, is_member, numbers


def test_what_a_covariate_makes_is_told_with_its_size():
    values, is_member, numbers = leaning_world(0, lean=0.3, slope=-1.0, harm=0.0)
    (one,) = told(values, is_member, numbers)
    assert (one.metric, one.group, one.covariate) == ("mrr@5", {"a": 0}, "length")
    assert one.mean == approx(numbers[is_member].mean())
    assert one.mean_of_others == approx(numbers[~is_member].mean())
    # by hand: the others' means in the group's covariates minus in their own
    means = np.array([values[~is_member & (numbers == level)].mean() for level in (0, 1)])
    share = one.mean - one.mean_of_others
    assert one.explains == approx(share * (means[1] - means[0]))
    assert one.at_random is None


@pytest.mark.parametrize(
    ("lean", "slope"), [(0.0, -1.0), (0.3, 0.0), (0.3, 1.0)], ids=["alike", "no matter", "easier"]
)
def test_what_makes_no_part_of_a_difference_is_not_told(lean, slope):
    said = [told(*leaning_world(seed, lean, slope, harm=1.0)) for seed in range(40)]
    assert sum(map(bool, said)) <= 4


def test_a_direct_effect_does_not_count_as_dependence():
    # the number is known to go with the group, and so with the values
    values, is_member, numbers = leaning_world(3, lean=0.3, slope=0.0, harm=1.0)
    assert abs(np.corrcoef(values, numbers)[0, 1]) > 0.1
    assert told(values, is_member, numbers) == ()


def test_where_nobody_else_is_in_its_covariates_lists_in_random_order_tell():
    rng = np.random.default_rng(0)
    is_member = np.arange(N_USERS) < 100
    numbers = np.where(is_member, 50, 10)
    values = rng.random(N_USERS) - 0.3 * is_member

    def at_random(users, harder=0.3):
        return (rng.random(len(users)) - harder * is_member[users])[None]

    (one,) = told(values, is_member, numbers, at_random, is_of_lists=True)
    assert one.explains is None
    assert one.at_random == (approx(0.2, abs=0.1), approx(0.5, abs=0.1))
    alike = told(values, is_member, numbers, lambda users: at_random(users, 0.0), is_of_lists=True)
    assert alike == ()
