"""The strength of a re-ranker: tried on a grid, weighed by the target metric and by accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import harm
from fairrec.mitigation.options import MitigationOptions

STRENGTHS = tuple(round(0.05 * step, 2) for step in range(21))
FINER = tuple(round(0.01 * step, 2) for step in range(1, 5))
"""Between two of these."""
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Aim:
    """The level of the target metric that the chosen groups are brought to: that of all others.

    Where neither end of a metric is better, groups are judged by how far their mean is from that
    of all others.

    Parameters
    ----------
    higher_is_better : of the values; a distance is better lower
    rest : mean over the users outside the chosen groups
    rest_error : its standard error
    is_distance : whether neither end of the metric is better
    side_of_group : 1 for groups above the others, -1 for those below. None: by the values at hand,
        with which even a mean of 0 has a distance above 0, so a change of distances needs a side
        from other targets
    """

    higher_is_better: bool
    rest: float
    rest_error: float = 0.0
    is_distance: bool = False
    side_of_group: FloatArray | None = None

    def values(self, metric: FloatArray, group_of_user: IntArray) -> FloatArray:
        """(n_users,), NaN outside the groups.

        Distances are positive on the side of their group, so that their mean over a group is the
        distance of its mean.
        """
        if not self.is_distance:
            return np.where(group_of_user >= 0, metric, np.nan)
        side = self.side_of_group
        if side is None:
            side = self.sides(metric, group_of_user, int(group_of_user.max(initial=-1)) + 1)
        return np.append(side, np.nan)[group_of_user] * (metric - self.rest)

    def sides(self, metric: FloatArray, group_of_user: IntArray, n_groups: int) -> FloatArray:
        """(n_groups,), 1 where the mean of a group is above that of the others, or -1."""
        known = (group_of_user >= 0) & ~np.isnan(metric)
        away = metric[known] - self.rest
        total = np.bincount(group_of_user[known], away, minlength=n_groups)
        return np.where(total < 0, -1.0, 1.0)

    def on_held_out(self, metric: FloatArray, group_of_user: IntArray, side: FloatArray) -> Aim:
        """The same with the others as held-out targets have them, and the sides of the groups."""
        rest = mean_or_nan(metric[group_of_user < 0])
        return replace(self, rest=rest, side_of_group=side)


def make_aim(target: MetricAtK, values: FloatArray, group_of_user: IntArray) -> Aim:
    """The aim for groups chosen by these values.

    Parameters
    ----------
    values : (n_users,), the target metric
    """
    others = values[group_of_user < 0]
    rest = mean_or_nan(others)
    higher_is_better = target.metric.higher_is_better
    if higher_is_better is None and np.isnan(rest):
        raise InputError(
            f"No user with a value of {target.name} is outside the chosen groups, so there is "
            f"nothing to bring them near to. Choose fewer: {spell('groups', 'worst:10%')}"
        )
    return Aim(bool(higher_is_better), rest, error_of_mean(others), higher_is_better is None)


class AtStrength(NamedTuple):
    """Target and accuracy of the chosen groups at one strength; NaN where undefined.

    Parameters
    ----------
    error : standard error of the difference in the target between the groups and the others
    """

    target: float
    cost: float
    error: float


Levels = dict[float, AtStrength]
"""By strength, the smallest first."""


def measure_level(
    target: FloatArray, cost: FloatArray, aim: Aim, group_of_user: IntArray
) -> AtStrength:
    """The level of the groups, from the values of users at one strength."""
    values = aim.values(target, group_of_user)
    return AtStrength(
        mean_or_nan(values),
        mean_or_nan(cost[group_of_user >= 0]),
        math.hypot(error_of_mean(values), aim.rest_error),
    )


def mean_or_nan(values: FloatArray) -> float:
    """The mean of what is defined; NaN where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def error_of_mean(values: FloatArray) -> float:
    """The standard error of the mean of what is defined; NaN below two."""
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else math.nan


def tune_strength(
    plan: MitigationOptions, aim: Aim, measure: Callable[[float], AtStrength]
) -> tuple[float, Levels]:
    """The strength of the plan or the best one, and the levels at it and at those of a grid.

    Parameters
    ----------
    measure : the level of the groups at a strength, where it is tuned
    """
    levels = {strength: measure(strength) for strength in STRENGTHS}
    if plan.strength != "auto":
        strength = float(plan.strength)
        levels[strength] = measure(strength)
    else:
        strength = best_strength(levels, aim, plan.max_loss)
        if not aim.is_distance:
            # a weaker one may do as well where it is level, else a stronger one better
            behind = harm(levels[strength].target - aim.rest, aim.higher_is_better)
            sign = -1 if behind <= levels[strength].error else 1
            finer = [round(strength + sign * step, 2) for step in FINER]
            tried = {one: measure(one) for one in finer if 0 < one < 1}
            strength = best_strength(levels | tried, aim, plan.max_loss)
            levels[strength] = (levels | tried)[strength]
    return strength, dict(sorted(levels.items()))


def best_strength(levels: Levels, aim: Aim, max_loss: float) -> float:
    """The strength that brings the groups level with the others, among those that cost little.

    Level is a difference of at most one standard error: of several strengths the smallest that
    reaches it (the one-standard-error rule), since a difference of 0 where it is tuned is one of
    several errors on other targets, as often ahead of the others as behind. Where none is level,
    the best one that does not put the groups ahead; 0 where none helps. Where neither end of the
    metric is better, the smallest distance. Of equal ones the smallest.

    Parameters
    ----------
    max_loss : relative loss of accuracy against strength 0, which comes first
    """
    strengths = sorted(levels)
    target, cost, error = np.array([levels[one] for one in strengths]).T
    gain = -harm(target - target[0], aim.higher_is_better)
    is_allowed = ~(cost < (1 - max_loss) * cost[0])
    if not aim.is_distance:
        behind = harm(target - aim.rest, aim.higher_is_better)
        is_allowed &= ~(behind < -ROUNDING)
        is_allowed[0] = True
        is_near = is_allowed & (behind <= error)
        if is_near.any():
            return strengths[int(np.argmax(is_near))]
    gain = np.where(is_allowed & ~np.isnan(gain), gain, -np.inf)
    gain[0] = 0.0
    return strengths[int(np.argmax(np.round(gain, 12)))]
