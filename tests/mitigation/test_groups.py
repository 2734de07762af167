"""Which groups are chosen, and on whom the strength is tuned."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.core.errors import InputError
from fairrec.groups.group import Group, is_member
from fairrec.mitigation.splitting import WorstRule, choose_worst, parse_worst
from tests.mitigation.cell_attributes import attributes_of, full_grouping

NAN = np.nan
FOUR = attributes_of([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]])
VALUES = np.array([0.1, 0.3, 0.5, 0.5, 0.9, 0.9, 0.2, NAN])


def worst_of(values, higher_is_better, rule, min_users=1, attributes=FOUR) -> list[Group]:
    rng = np.random.default_rng(0)
    grouping = full_grouping(attributes, min_users)
    choice = choose_worst(values, grouping, higher_is_better, parse_worst(rule), rng)
    return list(choice.groups)


def test_worst_are_those_with_the_lowest_mean_where_higher_is_better():
    # means: a0 b0 0.2, a0 b1 0.5, a1 b0 0.9, a1 b1 0.2 of one user
    assert worst_of(VALUES, True, "worst:1", min_users=2) == [Group.of(a="a0", b="b0")]
    assert worst_of(VALUES, True, "worst:50%", min_users=2) == [
        Group.of(a="a0", b="b0"),
        Group.of(a="a0", b="b1"),
    ]


def test_ties_go_to_the_first_combination():
    assert worst_of(VALUES, True, "worst:2") == [
        Group.of(a="a0", b="b0"),
        Group.of(a="a1", b="b1"),
    ]
    assert worst_of(np.full(8, 0.5), False, "worst:1") == [Group.of(a="a0", b="b0")]


def test_worst_are_those_with_the_highest_mean_where_lower_is_better():
    assert worst_of(VALUES, False, "worst:1") == [Group.of(a="a1", b="b0")]


def test_worst_are_those_furthest_from_the_others_where_no_end_is_better():
    values = np.array([5.0, 5.0, 5.0, 5.0, 9.0, 9.0, -3.0, -3.0])
    # from the others: 1.33, 1.33, 6.67 and -9.33
    assert worst_of(values, None, "worst:2") == [
        Group.of(a="a1", b="b1"),
        Group.of(a="a1", b="b0"),
    ]


def test_too_few_defined_values_make_no_group():
    with pytest.raises(InputError, match=r"has 3 users with a value to choose by. Lower min_sup"):
        worst_of(VALUES, True, "worst:1", min_users=3)
    with pytest.raises(InputError, match="has 1 users with a value"):
        worst_of(np.full(8, NAN), True, "worst:1")


@pytest.mark.parametrize("higher_is_better", [True, False, None])
@pytest.mark.parametrize("seed", range(10))
def test_users_to_tune_on_took_no_part_in_choosing_their_group(seed, higher_is_better):
    """Whatever their values are, the same groups have been chosen for them."""
    rng = np.random.default_rng(seed)
    n = 200
    attributes = attributes_of([rng.integers(0, 2, n), rng.integers(0, 3, n)])
    values = rng.normal(size=n)
    about = (full_grouping(attributes, 5), higher_is_better, WorstRule(number=2))
    choice = choose_worst(values, *about, np.random.default_rng(seed))
    assert choice.is_tuned.any()
    for user in rng.permutation(np.flatnonzero(choice.is_tuned))[:5]:
        other = values.copy()
        other[user] = rng.choice([-1e9, 1e9])
        again = choose_worst(other, *about, np.random.default_rng(seed))
        assert again.is_tuned[user]
    # they belong to groups that are tuned on
    in_groups = np.any([is_member(g, attributes) for g in choice.tuned_groups], axis=0)
    assert in_groups[choice.is_tuned].all()


def test_in_noise_the_users_to_tune_on_are_ordinary():
    """Those the groups were chosen by are worse than the rest; those to tune on are not."""
    chosen_by, tuned_on = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        attributes = attributes_of([rng.integers(0, 2, 120), rng.integers(0, 3, 120)])
        values = rng.normal(size=120)
        grouping = full_grouping(attributes, 1)
        choice = choose_worst(values, grouping, True, WorstRule(number=1), rng)
        tuned_on.append(values[choice.is_tuned].mean())
        chosen_by.append(values[is_member(choice.groups[0], attributes)].mean())
    error = np.std(tuned_on) / 10
    assert abs(np.mean(tuned_on)) < 3 * error
    assert np.mean(chosen_by) < -0.15 < -3 * error
