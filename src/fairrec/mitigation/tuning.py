"""What is measured at each strength, and which one to take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import harm
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.parsing import DEFAULT_K
from fairrec.mitigation.options import MitigationOptions

if TYPE_CHECKING:
    from fairrec.mitigation.fitted_reranker import Rescored


def cost_name(plan: MitigationOptions) -> str:
    """The accuracy that a strength must not cost."""
    return f"ndcg@{plan.target.k or DEFAULT_K}"


@dataclass(frozen=True, slots=True)
class Measures:
    """All metrics of a mitigation.

    Parameters
    ----------
    target : position of the one to improve
    cost : position of the accuracy that a strength must not cost; None where there are no labels
    """

    metrics: tuple[MetricAtK, ...]
    target: int
    cost: int | None
    threads: int

    @staticmethod
    def of(metrics: tuple[MetricAtK, ...], plan: MitigationOptions, threads: int) -> Measures:
        """The metrics with the places of the two that a mitigation weighs."""
        names = [metric.name for metric in metrics]
        cost = cost_name(plan)
        at = names.index(cost) if cost in names else None
        return Measures(metrics, names.index(plan.target.name), at, threads)

    @property
    def directions(self) -> dict[str, bool | None]:
        """Name -> whether higher is better, None where neither end is."""
        return {metric.name: metric.metric.higher_is_better for metric in self.metrics}

    @property
    def cost_name(self) -> str | None:
        """The accuracy that a strength must not cost."""
        return None if self.cost is None else self.metrics[self.cost].name

    def values(self, inputs: AuditInputs) -> FloatArray:
        """(n_metrics, n_users), NaN where undefined."""
        return measure_everyone(inputs, self.metrics, self.threads).values

    def at_strengths(
        self,
        rescored: Rescored,
        inputs: AuditInputs,
        strengths: Sequence[float],
        progress: Progress,
    ) -> FloatArray:
        """(n_strengths, 2, n_users), target and cost; a cost of NaN where there are no labels."""
        wanted = [self.target, *([] if self.cost is None else [self.cost])]
        metrics = [self.metrics[at] for at in wanted]
        measured = np.full((len(strengths), 2, inputs.n_users), np.nan)
        for at, strength in enumerate(strengths):
            progress("tuning the strength", at, len(strengths))
            reranked = inputs.with_scores(rescored.at(strength))
            measured[at, : len(metrics)] = measure_everyone(reranked, metrics, self.threads).values
        return measured


STRENGTHS = tuple(round(0.05 * step, 2) for step in range(21))
FINER = tuple(round(0.01 * step, 2) for step in range(1, 5))
"""Between two of these."""
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Aim:
    """The target metric as something to bring up or down.

    Where neither end of a metric is better, that is how far a group's mean is from the mean of
    all others.

    Parameters
    ----------
    higher_is_better : of the values the aim gives
    rest : mean over the users outside the chosen groups
    rest_error : its standard error
    is_distance : whether neither end of the metric is better
    side_of_group : 1 for groups above the others, -1 for those below; None: by the values at hand.
        A mean of 0 that is measured with noise lies on some side, and the less noise there is the
        nearer, so that whoever wants to know what became of a distance must know the side before
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

    def error(self, metric: FloatArray, group_of_user: IntArray) -> float:
        """The standard error of the difference between the groups and the others."""
        return math.hypot(error_of_mean(self.values(metric, group_of_user)), self.rest_error)


def make_aim(target: MetricAtK, values: FloatArray, group_of_user: IntArray) -> Aim:
    """What to bring up or down, and what the users outside the groups have.

    Parameters
    ----------
    values : (n_users,), the target metric
    """
    others = values[group_of_user < 0]
    rest = mean_or_nan(others)
    higher_is_better = target.metric.higher_is_better
    if higher_is_better is None and np.isnan(rest):
        raise InputError(
            f"Nobody with a value of {target.name} is outside the chosen groups, so there is "
            f"nothing to bring them near to. Choose fewer: {spell('groups', 'worst:10%')}"
        )
    return Aim(bool(higher_is_better), rest, error_of_mean(others), higher_is_better is None)


@dataclass(frozen=True, slots=True)
class Levels:
    """Target and cost at each strength; NaN where undefined.

    Parameters
    ----------
    error : standard error of the difference in the target between the groups and the others
    """

    strengths: tuple[float, ...]
    target: FloatArray
    cost: FloatArray
    error: FloatArray

    def beside(self, more: Levels) -> Levels:
        """Both, in the order of strengths."""
        strengths = (*self.strengths, *more.strengths)
        order = np.argsort(strengths)
        parts = ((self.target, more.target), (self.cost, more.cost), (self.error, more.error))
        return Levels(
            tuple(strengths[at] for at in order),
            *(np.concatenate(part)[order] for part in parts),
        )

    def only(self, strengths: Sequence[float]) -> Levels:
        """Those of some strengths."""
        at = [self.strengths.index(strength) for strength in sorted({*strengths})]
        kept = tuple(self.strengths[one] for one in at)
        return Levels(kept, self.target[at], self.cost[at], self.error[at])


def measure_levels(
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
        np.array([aim.error(target, group_of_user) for target in measured[:, 0]]),
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
    plan: MitigationOptions,
    aim: Aim,
    cost: str | None,
    levels_at: Callable[[Sequence[float]], Levels],
) -> tuple[float, Levels]:
    """The strength that is asked for or the best one, and what it and those of a grid do.

    Parameters
    ----------
    cost : the cost metric; None where it could not be measured
    levels_at : what strengths do to the users to tune on
    """
    if plan.strength != "auto":
        strength = float(plan.strength)
        return strength, levels_at(sorted({*STRENGTHS, strength}))
    if cost is None:
        raise InputError(
            f"{spell('strength', 'auto')} weighs the metric against NDCG, which needs labels. "
            "Give tables with a label column, validation targets too, or a "
            f"{spell('strength')} from 0 to 1."
        )
    levels = levels_at(STRENGTHS)
    near = best_strength(levels, aim, plan.max_loss)
    # one may do better: a weaker one where it levels, else a stronger one
    sign = -1 if is_level(levels, aim, near) else 1
    finer = [round(near + sign * step, 2) for step in FINER]
    finer = [one for one in finer if 0 < one < 1 and not aim.is_distance]
    if finer:
        levels = levels.beside(levels_at(finer))
    strength = best_strength(levels, aim, plan.max_loss)
    return strength, levels.only((*STRENGTHS, strength))


def best_strength(levels: Levels, aim: Aim, max_loss: float) -> float:
    """The strength that brings the groups level with the others, among those that cost little.

    Level is a difference of at most one standard error: of several strengths the smallest that
    reaches it (the one-standard-error rule), since a difference of 0 where it is tuned is one of
    several errors on other targets, as often ahead of the others as behind. Where none is level,
    the best one that does not put the groups ahead; 0 where none helps. Where neither end of the
    metric is better, the smallest distance. Of equal ones the smallest.

    Parameters
    ----------
    max_loss : relative loss of the cost metric against strength 0, which comes first
    """
    gain = -harm(levels.target - levels.target[0], aim.higher_is_better)
    is_allowed = ~(levels.cost < (1 - max_loss) * levels.cost[0])
    if not aim.is_distance:
        behind = harm(levels.target - aim.rest, aim.higher_is_better)
        is_allowed &= ~(behind < -ROUNDING)
        is_allowed[0] = True
        is_near = is_allowed & (behind <= levels.error)
        if is_near.any():
            return levels.strengths[int(np.argmax(is_near))]
    gain = np.where(is_allowed & ~np.isnan(gain), gain, -np.inf)
    gain[0] = 0.0
    return levels.strengths[int(np.argmax(np.round(gain, 12)))]


def is_level(levels: Levels, aim: Aim, strength: float) -> bool:
    """Whether the groups are behind the others by one standard error at most; never a distance."""
    at = levels.strengths.index(strength)
    behind = harm(float(levels.target[at]) - aim.rest, aim.higher_is_better)
    return not aim.is_distance and bool(behind <= levels.error[at])
