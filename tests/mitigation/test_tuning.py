"""The strength of a re-ranker: what each is worth, and which is taken."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pytest import approx

from fairrec.metrics import parse_metric
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.tuning import (
    STRENGTHS,
    Aim,
    AtStrength,
    Levels,
    best_strength,
    error_of_mean,
    make_aim,
    measure_level,
    tune_strength,
)

NAN = np.nan
UP, DOWN = Aim(True, 1.0), Aim(False, 0.0)


def levels(target, cost=None, error=0.0) -> Levels:
    """At strengths of 0, 0.1, 0.2, ..."""
    cost = [1.0] * len(target) if cost is None else cost
    return {
        at / 10: AtStrength(*both, error) for at, both in enumerate(zip(target, cost, strict=True))
    }


def best(target, cost=None, aim=UP, max_loss=0.02, error=0.0) -> float:
    return best_strength(levels(target, cost, error), aim, max_loss)


def test_the_best_that_costs_little_enough_is_taken():
    assert best([0.5, 0.6, 0.8, 0.9], [1.0, 0.99, 0.98, 0.97]) == 0.2
    assert best([0.5, 0.6, 0.8, 0.9], [1.0, 0.99, 0.98, 0.97], max_loss=0.5) == approx(0.3)
    assert best([0.5, 0.4, 0.3, 0.1], [1.0, 0.99, 0.98, 0.97], DOWN) == 0.2
    # a gain in the cost is no loss, and of equal ones the smallest is taken
    assert best([0.5, 0.6], [1.0, 2.0]) == 0.1
    assert best([0.5, 0.7, 0.7], [1.0, 1.0, 1.0]) == 0.1


@pytest.mark.parametrize("sign", [1, -1])
def test_groups_come_level_with_the_others_and_not_ahead(sign):
    """The others have 0.75; where less is better all values are turned."""
    aim = Aim(sign > 0, sign * 0.75)
    for target, error, taken in (
        ([0.5, 0.6, 0.7, 0.8, 0.9], 0.0, 0.2),
        ([0.5, 0.6, 0.75, 0.8, 0.9], 0.0, 0.2),
        # within one standard error: the smallest strength of several
        ([0.5, 0.6, 0.7, 0.74, 0.9], 0.06, 0.2),
        ([0.5, 0.6, 0.7, 0.74, 0.9], 0.02, 0.3),
        # not ahead, also where a standard error would allow it
        ([0.5, 0.6, 0.8, 0.9, 0.9], 0.06, 0.1),
        # ahead with any strength
        ([0.5, 0.8, 0.9, 0.9, 0.9], 0.06, 0.0),
        # up and down: the one that is level
        ([0.5, 0.8, 0.6, 0.74, 0.9], 0.02, 0.3),
        # level or ahead as they are
        ([0.74, 0.75, 0.8, 0.9, 0.9], 0.02, 0.0),
        ([0.8, 0.75, 0.7, 0.9, 0.9], 0.02, 0.0),
    ):
        assert best(sign * np.array(target), aim=aim, error=error) == taken, (target, error)


def test_what_is_level_must_cost_little_too():
    target, cost = [0.5, 0.6, 0.75, 0.76], [1.0, 0.99, 0.9, 0.98]
    assert best(target, cost, Aim(True, 0.76)) == approx(0.3)
    assert best(target, cost, Aim(True, 0.75)) == approx(0.1)


def test_without_others_the_best_is_taken_and_a_distance_is_the_smallest():
    assert best([0.5, 0.6, 0.8], aim=Aim(True, NAN), error=NAN) == 0.2
    assert best([0.5, 0.6, 0.4, 0.1, 0.2], aim=Aim(False, 0.5, 0.1, True), error=9.0) == 0.3


def curve(slope: float, tried: list[float]) -> Callable[[float], AtStrength]:
    """Levels that rise from 0.5 in a line; the strengths that are measured are kept."""

    def measure(strength: float) -> AtStrength:
        tried.append(strength)
        return AtStrength(0.5 + slope * strength, 1.0, 0.005)

    return measure


@pytest.mark.parametrize(
    ("slope", "taken"),
    # level from 0.595 to 0.6: between two of the grid, on it, near its end, out of reach
    [(1.35, 0.07), (1.06, 0.09), (0.951, 0.1), (0.102, 0.94), (0.05, 1.0), (0.0, 0.0)],
)
def test_the_strength_is_tuned_to_a_hundredth(slope, taken):
    tried = []
    strength, found = tune_strength(MitigationOptions("urd@5"), Aim(True, 0.6), curve(slope, tried))
    assert strength == approx(taken)
    assert [*found] == sorted({*STRENGTHS, strength})
    assert [one.target for one in found.values()] == approx(0.5 + slope * np.array([*found]))
    assert all(0 <= one <= 1 for one in tried)


def test_the_error_is_that_of_a_difference_of_two_means():
    """By the definition of a standard error."""
    rng = np.random.default_rng(0)
    values, group = rng.normal(size=40), np.repeat([0, 1, -1], [10, 5, 25])
    aim = make_aim(parse_metric("urd@5"), values, group)
    assert aim.rest == approx(values[15:].mean())
    expected = np.sqrt(values[:15].var(ddof=1) / 15 + values[15:].var(ddof=1) / 25)
    assert measure_level(values, values, aim, group).error == approx(expected)
    assert np.isnan(error_of_mean(np.array([1.0, NAN])))


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


def test_aim_without_direction_is_the_distance_from_the_rest():
    aim = Aim(False, 1.0, is_distance=True)
    metric, group = np.array([3.0, 2.0, 0.0, -1.0, 9.0]), np.array([0, 0, 1, 1, -1])
    assert aim.values(metric, group) == approx([2, 1, 1, 2, NAN], nan_ok=True)

    def level(values: np.ndarray) -> float:
        return measure_level(values, values, aim, group).target

    assert level(metric) == approx((2 + 1 + 1 + 2) / 4)
    # on either side of the rest: group 0 has a mean of 0, 1 from the rest
    past = aim.values(np.array([1.0, -1.0, 1.0, 1.0, 9.0]), group)
    assert past[:2] == approx([0, 2])
    assert level(np.array([1.0, -1.0, 1.0, 1.0, 9.0])) == approx((2 + 0) / 4)
    assert np.isnan(level(np.full(5, NAN)))
