"""What a strength is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from pytest import approx

from fairrec.core.errors import InputError
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics import parse_metric
from fairrec.mitigation.fitted_reranker import Rescored
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.splitting import read_split
from fairrec.mitigation.tuning import (
    STRENGTHS,
    Aim,
    Levels,
    Measures,
    best_strength,
    error_of_mean,
    make_aim,
    measure_levels,
    tune_strength,
)
from tests.mitigation.planted import planted

NAN = np.nan
UP, DOWN = Aim(True, 1.0), Aim(False, 0.0)


def levels(target, cost=None, error=0.0) -> Levels:
    """At strengths of 0, 0.1, 0.2, ..."""
    strengths = tuple((np.arange(len(target)) / 10).tolist())
    cost = np.ones(len(target)) if cost is None else np.array(cost)
    return Levels(strengths, np.array(target), cost, np.full(len(target), error))


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


def curve(slope: float, asked: list) -> Callable[[Sequence[float]], Levels]:
    """Levels that rise from 0.5 in a line; what is asked for is kept."""

    def levels_at(strengths: Sequence[float]) -> Levels:
        asked.append(tuple(strengths))
        target = 0.5 + slope * np.array(strengths)
        n = len(strengths)
        return Levels(tuple(strengths), target, np.ones(n), np.full(n, 0.005))

    return levels_at


@pytest.mark.parametrize(
    ("slope", "taken"),
    # level from 0.595 to 0.6: between two of the grid, on it, near its end, out of reach
    [(1.35, 0.07), (1.06, 0.09), (0.951, 0.1), (0.102, 0.94), (0.05, 1.0), (0.0, 0.0)],
)
def test_the_strength_is_tuned_to_a_hundredth(slope, taken):
    asked = []
    aim = Aim(True, 0.6)
    plan = MitigationOptions("urd@5")
    strength, found = tune_strength(plan, aim, "ndcg@5", curve(slope, asked))
    assert strength == approx(taken)
    assert found.strengths == tuple(sorted({*STRENGTHS, strength}))
    assert found.target == approx(0.5 + slope * np.array(found.strengths))
    assert asked[0] == STRENGTHS and len(asked) <= 2
    assert all(0 < one < 1 for one in (asked[1] if len(asked) > 1 else ()))


def test_a_strength_that_is_asked_for_is_taken_and_one_that_cannot_be_weighed_refused():
    aim, levels_at = Aim(True, 0.6), curve(1.0, [])
    plan = MitigationOptions("urd@5", strength=0.33)
    strength, found = tune_strength(plan, aim, None, levels_at)
    assert strength == 0.33 and found.strengths == tuple(sorted({*STRENGTHS, 0.33}))
    with pytest.raises(InputError, match="needs labels"):
        tune_strength(MitigationOptions("urd@5"), aim, None, levels_at)


def test_the_error_is_that_of_a_difference_of_two_means():
    """By the definition of a standard error."""
    rng = np.random.default_rng(0)
    values, group = rng.normal(size=40), np.repeat([0, 1, -1], [10, 5, 25])
    aim = make_aim(parse_metric("urd@5"), values, group)
    assert aim.rest == approx(values[15:].mean())
    expected = np.sqrt(values[:15].var(ddof=1) / 15 + values[15:].var(ddof=1) / 25)
    assert aim.error(values, group) == approx(expected)
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
    levels = measure_levels(measured, (0.0, 1.0), UP, np.array([0, -1]))
    assert levels.strengths == (0.0, 1.0)
    assert levels.target == approx([0.1, 0.3])
    assert levels.cost == approx([0.5, 0.4])


WORLD = planted("accuracy", n_users=24)


@pytest.mark.parametrize("has_labels", [True, False])
def test_target_and_cost_are_measured_at_every_strength(has_labels):
    lists = WORLD.predictions if has_labels else WORLD.predictions.drop("label")
    names = ["urd@5", *(["mrr@5", "ndcg@5"] if has_labels else [])]
    tables = TableOptions(users=WORLD.users, by="gender", items=WORLD.items, metrics=names)
    split = read_split(lists, None, tables, seed=0)
    inputs = split.everyone
    measures = Measures.of(split.per_user_metrics, MitigationOptions("urd@5"), threads=1)
    assert measures.cost_name == ("ndcg@5" if has_labels else None)
    steps = []
    unchanged = Rescored(inputs.candidates.scores, None)
    measured = measures.at_strengths(
        unchanged, inputs, (0.0, 1.0), lambda *step: steps.append(step)
    )
    assert steps == [("tuning the strength", 0, 2), ("tuning the strength", 1, 2)]
    values = measures.values(inputs)
    for target, cost in measured:
        assert np.array_equal(target, values[0])
        expected = values[2] if has_labels else np.full(24, np.nan)
        assert np.array_equal(cost, expected, equal_nan=True)
