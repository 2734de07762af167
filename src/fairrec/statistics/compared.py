"""How groups changed from one audit to another: intervals for all groups and metrics at once.

The same users are compared by their changes (`compare_paired`), other users by the means and
intervals that both audits have of a group (`unpaired`). Either way alpha is divided by the number
of groups and metrics (Bonferroni). Drawing the largest statistic of all groups instead, by
turning the signs of changes, would gain little and would not hold where some groups vary more
than others, or their changes are skewed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import ndtri

from fairrec.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.metrics.direction import harm, worse_ends
from fairrec.statistics.changes import group_sums
from fairrec.statistics.intervals import CutOffs, Interval, with_unseen
from fairrec.statistics.outcome import OPEN, WORSE, Outcome
from fairrec.statistics.verdict import (
    CertifiedPoint,
    certificate,
    group_outcomes,
    harm_interval,
    is_shown_worse,
    metric_outcome,
    ruled_out_from,
)


@dataclass(frozen=True, slots=True)
class ComparedGroups:
    """The groups of one metric in two audits; (n_groups,) each.

    Parameters
    ----------
    n : users that the change rests on; of two sets of users those of the candidate, or of the base
        where the candidate has none
    error : standard error of the change
    interval : of the change, for all groups and metrics at once; NaN where it is not known
    is_beyond_chance : by more than chance explains, for all groups and metrics at once
    is_known : whether the interval holds, so that something can be said
    """

    n: FloatArray
    before: FloatArray
    after: FloatArray
    change: FloatArray
    error: FloatArray
    interval: Interval
    is_beyond_chance: BoolArray
    is_known: BoolArray

    def with_others(self, other: ComparedGroups, rows: IntArray) -> ComparedGroups:
        """The same, and after them some groups of another, by their positions."""

        def joined(mine: AnyArray, others: AnyArray) -> AnyArray:
            return np.concatenate([mine, others[rows]])

        parts = {
            field.name: joined(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
            if field.name != "interval"
        }
        ends = zip(self.interval, other.interval, strict=True)
        return ComparedGroups(**parts, interval=Interval(*(joined(*end) for end in ends)))


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """What is known about the harm of the candidate in one metric: how much worse than the base.

    Parameters
    ----------
    matters : in units of the metric; None where nothing was said
    of_groups : (n_groups,), positions in `outcome_names`
    order : (n_groups,), positions of the groups: worse by more than matters, worse, the others;
        among them those first that are surely worse by most, and last that are surely better
    is_conclusive : whether the users with a value speak for all, in both audits
    ruled_out_from : of groups with so many users and more none is inconclusive
    """

    groups: ComparedGroups
    higher_is_better: bool | None
    outcome: Outcome
    matters: float | None
    is_conclusive: bool
    of_groups: IntArray
    order: IntArray
    is_improved: BoolArray
    ruled_out_from: int | None
    certificate: tuple[CertifiedPoint, ...]

    def n_of(self, outcome: int) -> int:
        """How many groups have an outcome."""
        return int((self.of_groups == outcome).sum())


def compare_paired(
    before: FloatArray,
    after: FloatArray,
    grouping: Grouping,
    is_compared: BoolArray,
    higher_is_better: Sequence[bool | None],
    known_bounds: Sequence[tuple[float, float] | None],
    alpha: float,
    n_tests: int | None = None,
) -> tuple[ComparedGroups, ...]:
    """The groups that are compared in each metric, by users who are in both audits.

    Parameters
    ----------
    before, after : (n_metrics, n_users), NaN where undefined
    is_compared : (n_metrics, n_groups), which groups of the lattice are; each has a user with
        both values
    known_bounds : lowest and highest value of each metric, where that is known
    n_tests : what alpha is divided by; None for as many as are made here
    """
    sums = [group_sums(*pair, grouping) for pair in zip(before, after, strict=True)]
    masks = zip(sums, is_compared, strict=True)
    n_tests = n_tests or sum(int((is_mine & (of.n > 1)).sum()) for of, is_mine in masks)
    level = alpha / max(n_tests, 1)
    found = []
    for at, of in enumerate(sums):
        part, mine = of.changes(level), is_compared[at]
        n, change = part.n[mine], part.change[mine]
        interval = Interval(part.low[mine], part.high[mine])
        users = after[at] - before[at]
        users = users[~np.isnan(users)]
        most = _most(users, known_bounds[at])
        extremes = _extremes(users, most, higher_is_better[at])
        is_beyond_chance = leaves_out_zero(interval)
        wider = _with_unseen(interval, n, change, extremes, level)
        wider = wider.without_zero(change, is_beyond_chance)
        found.append(
            ComparedGroups(
                n=n,
                before=part.before[mine],
                after=part.after[mine],
                change=change,
                error=part.error[mine],
                interval=Interval(np.maximum(wider.low, -most), np.minimum(wider.high, most)),
                is_beyond_chance=is_beyond_chance,
                is_known=np.isfinite(interval.low) & np.isfinite(interval.high),
            )
        )
    return tuple(found)


def leaves_out_zero(interval: Interval) -> BoolArray:
    """Whether a change of nothing is excluded."""
    return np.asarray((interval.low > 0) | (interval.high < 0))


def cut_off(level: float) -> CutOffs:
    """Normal scores that are exceeded with this probability, up or down."""
    score = np.array(-ndtri(level / 2))
    return CutOffs(score, score)


def _with_unseen(
    interval: Interval, n: FloatArray, change: FloatArray, extremes: FloatArray, level: float
) -> Interval:
    """The same, or wider at the worse end: others of a group may lose as much as can be lost.

    Where few users changed, a group of which none did is no proof that none would.
    """
    wider = with_unseen(interval, n, change, change, extremes, cut_off(level))
    is_known = np.isfinite(interval.low) & np.isfinite(interval.high)
    return Interval(*(np.where(is_known, end, np.nan) for end in wider))


def _extremes(of_users: FloatArray, most: float, higher_is_better: bool | None) -> FloatArray:
    """The largest fall and rise that users may have who are not seen; NaN at the better end.

    As much as the bounds of a metric leave room for; without any as much as anybody showed.
    """
    extremes = np.full(2, np.nan)
    for end in worse_ends(higher_is_better) if len(of_users) else ():
        seen = of_users.max() if end > 0 else of_users.min()
        extremes[int(end > 0)] = end * most if np.isfinite(most) else seen
    return extremes


def _most(of_users: FloatArray, bounds: tuple[float, float] | None) -> float:
    """No change is larger than what is between the bounds of a metric, where these hold."""
    most = np.inf if bounds is None else bounds[1] - bounds[0]
    return float(most) if np.abs(of_users).max(initial=0.0) <= most else np.inf


def judged(
    groups: ComparedGroups,
    depth: IntArray,
    higher_is_better: bool | None,
    matters: float | None,
    is_conclusive: bool,
) -> ComparedMetric:
    """What is known about the harm of the candidate.

    Parameters
    ----------
    depth : (n_groups,), how many attributes a group has a condition on
    matters : the smallest harm worth acting on, in units of the metric
    is_conclusive : whether the users with a value speak for all, in both audits
    """
    size = harm(np.nan_to_num(groups.change), higher_is_better)
    interval = harm_interval(groups.interval, higher_is_better)
    is_worse = is_shown_worse(size, groups.is_beyond_chance, groups.is_known)
    is_certain = groups.is_known & is_conclusive
    of_groups = group_outcomes(interval, is_worse, is_certain, matters)
    errors = np.divide(size, groups.error, out=np.zeros_like(size), where=groups.error > 0)
    # what is said of groups of some size is said of all of them
    is_above = groups.n > groups.n[~groups.is_known].max(initial=0)
    is_told = is_certain & is_above & (of_groups > WORSE)
    rank = np.where(of_groups > WORSE, OPEN, of_groups)
    low, high = interval
    surely = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    return ComparedMetric(
        groups=groups,
        higher_is_better=higher_is_better,
        outcome=metric_outcome(of_groups, groups.is_known, depth, higher_is_better)
        if len(depth)
        else "inconclusive",
        matters=matters,
        is_conclusive=is_conclusive,
        of_groups=of_groups,
        order=np.lexsort((-errors, -surely, rank)),
        is_improved=groups.is_beyond_chance & (size < 0),
        ruled_out_from=ruled_out_from(of_groups == OPEN, groups.n),
        certificate=certificate(groups.n, interval.high, is_told),
    )
