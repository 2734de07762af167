"""What a strength is worth."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.mitigation.tuning import STRENGTHS, Aim, Levels, best_strength, levels_of, mean_or_nan

NAN = np.nan
UP, DOWN = Aim(True, 0.5), Aim(False, 0.5)


def best(target, cost, aim=UP, max_loss=0.02) -> float:
    strengths = tuple(np.arange(len(target)) / 10)
    return best_strength(Levels(strengths, np.array(target), np.array(cost)), aim, max_loss)


def test_the_best_that_costs_little_enough_is_taken():
    assert best([0.5, 0.6, 0.8, 0.9], [1.0, 0.99, 0.98, 0.97]) == 0.2
    assert best([0.5, 0.6, 0.8, 0.9], [1.0, 0.99, 0.98, 0.97], max_loss=0.5) == approx(0.3)
    assert best([0.5, 0.4, 0.3, 0.1], [1.0, 0.99, 0.98, 0.97], DOWN) == 0.2


def test_a_gain_in_the_cost_is_no_loss():
    assert best([0.5, 0.6], [1.0, 2.0]) == 0.1


@pytest.mark.parametrize(
    ("target", "cost"),
    [
        ([0.5, 0.4, 0.3], [1.0, 1.0, 1.0]),
        ([0.5, 0.5, 0.5], [1.0, 1.0, 1.0]),
        ([0.5, 0.9, 0.9], [1.0, 0.5, 0.5]),
        ([0.5, 0.5 + 1e-15, 0.5], [1.0, 1.0, 1.0]),
        ([NAN, NAN, NAN], [NAN, NAN, NAN]),
        ([0.5, NAN, NAN], [1.0, 1.0, 1.0]),
    ],
)
def test_nothing_is_done_where_nothing_helps(target, cost):
    assert best(target, cost) == 0


def test_of_equal_ones_the_smallest_is_taken():
    assert best([0.5, 0.7, 0.7], [1.0, 1.0, 1.0]) == 0.1


def test_strengths_go_from_nothing_to_all():
    assert STRENGTHS[0] == 0 and STRENGTHS[-1] == 1
    assert np.diff(STRENGTHS) == approx(0.05)


def test_aim_of_a_directed_metric_is_the_metric_itself():
    values = UP.values(np.array([0.1, 0.2, 0.3]), np.array([0, -1, 1]))
    assert values == approx([0.1, NAN, 0.3], nan_ok=True)
    assert UP.level(np.array([0.1, 0.2, NAN]), np.array([0, -1, 1])) == approx(0.1)
    assert np.isnan(UP.level(np.array([0.1]), np.array([-1])))


def test_aim_without_direction_is_the_distance_from_the_rest():
    aim = Aim(False, 1.0, is_distance=True)
    metric, group = np.array([3.0, 2.0, 0.0, -1.0, 9.0]), np.array([0, 0, 1, 1, -1])
    assert aim.values(metric, group) == approx([2, 1, 1, 2, NAN], nan_ok=True)
    assert aim.level(metric, group) == approx((2 + 1 + 1 + 2) / 4)
    # on either side of the rest: group 0 has a mean of 0, 1 from the rest
    past = aim.values(np.array([1.0, -1.0, 1.0, 1.0, 9.0]), group)
    assert past[:2] == approx([0, 2])
    assert aim.level(np.array([1.0, -1.0, 1.0, 1.0, 9.0]), group) == approx((2 + 0) / 4)
    assert np.isnan(aim.level(np.full(5, NAN), group))


def test_a_side_that_is_given_is_kept_whatever_the_values():
    metric, group = np.array([3.0, 2.0, 0.0, -1.0, 9.0]), np.array([0, 0, 1, 1, -1])
    aim = Aim(False, 1.0, is_distance=True)
    assert aim.sides(metric, group, 3).tolist() == [1, -1, 1]
    turned = Aim(False, 1.0, is_distance=True, side_of_group=np.array([-1.0, -1.0]))
    assert turned.values(metric, group) == approx([-2, -1, 1, 2, NAN], nan_ok=True)
    assert turned.level(metric, group) == approx(0)


def test_levels_are_those_of_the_users_of_the_groups():
    measured = np.array([[[0.1, 0.9], [0.5, 0.7]], [[0.3, 0.9], [0.4, 0.7]]])
    levels = levels_of(measured, (0.0, 1.0), UP, np.array([0, -1]))
    assert levels.strengths == (0.0, 1.0)
    assert levels.target == approx([0.1, 0.3])
    assert levels.cost == approx([0.5, 0.4])


def test_mean_of_what_is_defined():
    assert mean_or_nan(np.array([1.0, NAN, 3.0])) == 2
    assert np.isnan(mean_or_nan(np.array([NAN])))
    assert np.isnan(mean_or_nan(np.empty(0)))
