"""What each strength does, and which one to take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import harm
from fairrec.mitigation.options import MitigationOptions

STRENGTHS = tuple(round(0.05 * step, 2) for step in range(21))


@dataclass(frozen=True, slots=True)
class Aim:
    """The target metric as something to bring up or down.

    Where neither end of a metric is better, that is how far a group's mean is from the mean of
    all others.

    Parameters
    ----------
    higher_is_better : of the values the aim gives
    rest : mean over the users outside the chosen groups
    is_distance : whether neither end of the metric is better
    side_of_group : 1 for groups above the others, -1 for those below; None: by the values at hand.
        A mean of 0 that is measured with noise lies on some side, and the less noise there is the
        nearer, so that whoever wants to know what became of a distance must know the side before
    """

    higher_is_better: bool
    rest: float
    is_distance: bool = False
    side_of_group: FloatArray | None = None

    def values(self, metric: FloatArray, group_of_user: IntArray) -> FloatArray:
        """(n_users,), NaN outside the groups.

        Distances are positive on the side of their group, so that their mean over a group is the
        distance of its mean.
        """
        is_chosen = group_of_user >= 0
        if not self.is_distance:
            return np.where(is_chosen, metric, np.nan)
        side = self.side_of_group
        if side is None:
            side = self.sides(metric, group_of_user, int(group_of_user.max(initial=-1)) + 1)
        of_user = np.append(side, np.nan)[np.where(is_chosen, group_of_user, -1)]
        return of_user * (metric - self.rest)

    def sides(self, metric: FloatArray, group_of_user: IntArray, n_groups: int) -> FloatArray:
        """(n_groups,), 1 where the mean of a group is above that of the others, or -1."""
        known = (group_of_user >= 0) & ~np.isnan(metric)
        away = metric[known] - self.rest
        total = np.bincount(group_of_user[known], away, minlength=n_groups)
        return np.where(total < 0, -1.0, 1.0)

    def level(self, metric: FloatArray, group_of_user: IntArray) -> float:
        """The mean over the users of the groups; NaN where undefined."""
        return mean_or_nan(self.values(metric, group_of_user))


def aim_of(target: MetricAtK, values: FloatArray, group_of_user: IntArray) -> Aim:
    """What to bring up or down, and what the users outside the groups have.

    Parameters
    ----------
    values : (n_users,), the target metric
    """
    rest = mean_or_nan(values[group_of_user < 0])
    higher_is_better = target.metric.higher_is_better
    if higher_is_better is None and np.isnan(rest):
        raise InputError(
            f"Nobody with a value of {target.name} is outside the chosen groups, so there is "
            f"nothing to bring them near to. Choose fewer: {spelled('groups', 'worst:10%')}"
        )
    return Aim(bool(higher_is_better), rest, is_distance=higher_is_better is None)


@dataclass(frozen=True, slots=True)
class Levels:
    """Target and cost at each strength; NaN where undefined."""

    strengths: tuple[float, ...]
    target: FloatArray
    cost: FloatArray


def levels_of(
    measured: FloatArray, strengths: Sequence[float], aim: Aim, group_of_user: IntArray
) -> Levels:
    """Levels of the users of the groups.

    Parameters
    ----------
    measured : (n_strengths, 2, n_users), the target metric and the cost metric
    """
    is_mine = group_of_user >= 0
    return Levels(
        tuple(strengths),
        np.array([aim.level(target, group_of_user) for target in measured[:, 0]]),
        np.array([mean_or_nan(cost[is_mine]) for cost in measured[:, 1]]),
    )


def mean_or_nan(values: FloatArray) -> float:
    """The mean of what is defined; NaN where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def strengths_of(plan: MitigationOptions) -> tuple[float, ...]:
    """The strengths to try: those of a grid, and the one that is asked for."""
    asked = () if plan.strength == "auto" else (float(plan.strength),)
    return tuple(sorted({*STRENGTHS, *asked}))


def strength_of(plan: MitigationOptions, levels: Levels, aim: Aim, cost: str | None) -> float:
    """The strength that is asked for, or the best one that costs little enough.

    Parameters
    ----------
    cost : the cost metric; None where it could not be measured
    """
    if plan.strength != "auto":
        return float(plan.strength)
    if cost is None:
        raise InputError(
            f"{spelled('strength', 'auto')} weighs the metric against NDCG, which needs labels. "
            "Give tables with a label column, validation targets too, or a "
            f"{spelled('strength')} from 0 to 1."
        )
    return best_strength(levels, aim, plan.max_loss)


def best_strength(levels: Levels, aim: Aim, max_loss: float) -> float:
    """The strength with the best target among those that cost little enough; 0 where none helps.

    Of equal ones the smallest.

    Parameters
    ----------
    max_loss : relative loss of the cost metric against strength 0, which comes first
    """
    gain = levels.target - levels.target[0]
    gain = -harm(gain, aim.higher_is_better)
    affordable = ~(levels.cost < (1 - max_loss) * levels.cost[0])
    gain = np.where(affordable & ~np.isnan(gain), gain, -np.inf)
    gain[0] = 0.0
    return levels.strengths[int(np.argmax(np.round(gain, 12)))]
