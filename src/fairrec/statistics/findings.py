"""Findings of each metric: significant groups that no other finding explains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, Field

from fairrec.core.arrays import ROUNDING, BoolArray, FloatArray, IntArray, finite_or_none
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import members
from fairrec.inputs.users import Value
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import badness, harm
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.moments import Moments
from fairrec.statistics.simultaneous import DOWN, UP
from fairrec.statistics.verdict import GroupVerdicts, Outcome, outcome_names

MAX_FINDINGS = 200
"""Findings listed for a metric; each costs a pass over the lattice."""
WINDOW = 1.0
"""Scores by which a group at the worse end may be less extreme and still come first."""


class Selected(NamedTuple):
    """A group that is a finding.

    Parameters
    ----------
    position : in the lattice
    n_folded : significant groups that this one explains
    because_of : the group that is served better and explains this one; None for most
    """

    position: int
    n_folded: int
    because_of: int | None = None


def select_findings(
    metric: int,
    is_significant: BoolArray,
    critical: FloatArray,
    higher_is_better: bool | None,
    moments: Moments,
    grouping: Grouping,
    threads: int = 1,
    error: FloatArray | None = None,
) -> tuple[list[Selected], int]:
    """Take the strongest group, remove its difference, keep what is still significant; repeat.

    Women under 25 are no second finding when all women are served alike, and women are none when
    only those under 25 are worse off: one group explains the other. But where groups are worse off,
    one is always listed, also if a group that is served better explains it.

    Parameters
    ----------
    is_significant : (n_groups,)
    critical : (2,) or (2, n_groups), score up and down that a group must keep to be listed
    higher_is_better : of two about equally extreme groups the worse one comes first
    error : (n_groups,), of the differences; None for the chance error

    Returns
    -------
    selected : strongest first
    n_left : significant groups left over when the list was full
    """
    cells, lattice = grouping.cells, grouping.lattice
    # a group in a sample stands for all its users
    n_per_row = moments.size_per_row[metric]
    n, to_total = moments.size[metric], moments.weights.total[metric]
    if moments.sample is not None:
        n_per_row = np.ones(len(cells.of_user), dtype=bool)
        n = lattice.n_users.astype(np.float64)
        to_total = n * np.maximum(len(n_per_row) - n, 0) / len(n_per_row)
    n_per_cell = cells.sums(n_per_row)
    with np.errstate(invalid="ignore"):
        scale = np.nan_to_num((moments.chance_error[metric] if error is None else error) * to_total)
        residual = np.nan_to_num(moments.difference[metric] * to_total)
    sign = np.sign(residual)
    at_first = np.divide(residual, scale, out=np.zeros_like(residual), where=scale > 0)
    least = np.where(sign > 0, critical[UP], critical[DOWN])
    depth = lattice.depth
    open_groups = np.flatnonzero(is_significant & (scale > 0))
    chosen: list[Selected] = []
    folded_into = np.full(len(n), -1)
    while len(open_groups) and len(chosen) < MAX_FINDINGS:
        score = residual[open_groups] / scale[open_groups]
        is_better_end = harm(score, higher_is_better) <= 0
        # of the two ends of one difference, chance decides which is more extreme
        reach = np.abs(score) + np.where(is_better_end, 0.0, WINDOW)
        # ties: the worse end, the fewer conditions, the smaller group
        order = np.lexsort(
            (open_groups, n[open_groups], depth[open_groups], is_better_end, -np.round(reach, 9))
        )
        best = int(open_groups[order[0]])
        few = int(grouping.complement[best])
        if grouping.is_rest[best] and few in open_groups:
            # one difference, named by its smaller side
            best = few
        is_member = members(lattice.codes[best], cells)
        overlap = lattice.sums((n_per_cell * is_member)[None], threads)[0]
        # lift the group to the mean of all others, then centre again within strata
        lift = -residual[best] / to_total[best]
        residual += lift * (overlap - _expected(is_member, n, best, n_per_row, moments, grouping))
        kept = np.abs(residual[open_groups] / scale[open_groups]) >= least[open_groups]
        # a group that is now at the other end would be listed with a misleading difference
        kept &= np.sign(residual[open_groups]) == sign[open_groups]
        kept &= open_groups != best
        chosen.append(Selected(best, int(len(open_groups) - kept.sum() - 1)))
        folded_into[open_groups[~kept]] = best
        open_groups = open_groups[kept]
    positions = [one.position for one in chosen]
    hidden = _worst_of_folded(at_first, folded_into, positions, higher_is_better, depth)
    if hidden is not None:
        explains = int(folded_into[hidden])
        at = positions.index(explains)
        chosen[at] = chosen[at]._replace(n_folded=chosen[at].n_folded - 1)
        chosen.append(Selected(hidden, 0, explains))
    return chosen, len(open_groups)


def _worst_of_folded(
    score: FloatArray,
    folded_into: IntArray,
    chosen: list[int],
    higher_is_better: bool | None,
    depth: IntArray,
) -> int | None:
    """The most extreme group at the worse end, where no finding is at that end."""
    if higher_is_better is None:
        return None
    harms = harm(score, higher_is_better)
    candidates = np.flatnonzero((folded_into >= 0) & (harms > 0))
    if not len(candidates) or (harms[chosen] > 0).any():
        return None
    # ties: the fewer conditions
    order = np.lexsort((candidates, depth[candidates], -np.round(harms[candidates], 9)))
    return int(candidates[order[0]])


def _expected(
    is_member: BoolArray,
    n: FloatArray,
    group: int,
    n_per_row: BoolArray | FloatArray,
    moments: Moments,
    grouping: Grouping,
) -> FloatArray:
    """(n_groups,), the expected users that each group shares with one, at random within strata."""
    cells, strata = grouping.cells, moments.strata
    if strata.n_strata == 1:
        return np.asarray(n * (n[group] / n_per_row.sum()))
    in_group = strata.sums(n_per_row * is_member[cells.of_user])
    share = in_group / np.maximum(strata.sums(n_per_row), 1)
    per_cell = cells.sums(share[strata.of_user] * n_per_row)
    return np.asarray(grouping.lattice.sums(per_cell[None])[0])


class Finding(BaseModel, frozen=True, extra="forbid"):
    """A group that differs from all other users by more than chance explains."""

    group: dict[str, Value]
    value: float
    support: int = Field(description="users of the group whose value is known")
    n_users: int = Field(description="users of the group, known or not")
    is_fully_scored: bool = Field(
        description="every user of the group is scored; otherwise it is judged by those of its "
        "users that a search drew at random"
    )
    outcome: Outcome | None = Field(
        default=None,
        description="what is known about its harm: worse beyond tolerance; worse, and whether "
        "beyond tolerance is open or no tolerance was set; within tolerance; inconclusive. Where "
        "neither end is better: differs beyond tolerance, differs, within tolerance. Null of "
        "shares of users who are missing",
    )
    difference: float = Field(
        description="mean of the group minus mean of all other users, among users in the same "
        "covariates where these are given"
    )
    raw_difference: float | None = Field(default=None, description="unadjusted")
    kept_share: float | None = Field(
        default=None,
        description="users of the group whom the difference is about: in covariates that weigh "
        "as much as they are many, because there are others too; null where none are given",
    )
    shrunken_difference: float = Field(
        description="what is left after correcting for this group being picked out"
    )
    interval: tuple[float, float] = Field(
        description="confidence interval of the difference at 1 - alpha, for one group at a time"
    )
    simultaneous: tuple[float | None, float | None] = Field(
        description="confidence interval of the difference that holds for all groups and metrics "
        "at once, so also for those picked out; an end is null where it has no limit",
    )
    p_value: float = Field(description="for one group at a time")
    p_adjusted: float = Field(description="adjusted for all groups and metrics tested")
    random_sets: float | None = Field(
        default=None,
        description="of items the share of random sets of as many that are at least as far from "
        "all others, in the same direction; null of users",
    )
    n_folded: int = Field(description="overlapping groups that add nothing to this one")
    because_of: dict[str, Value] | None = Field(
        default=None,
        description="a group that is served better and without which this one would not stand out; "
        "null for most",
    )


def list_findings(
    i: int, analysis: Analysis, also: BoolArray | None = None
) -> tuple[list[Selected], int]:
    """The findings of a metric, worst first, and how many more groups are significant.

    Parameters
    ----------
    also : (n_groups,), list these instead, where no finding explains them
    """
    is_listed = analysis.is_beyond_chance[i]
    metric = analysis.measured.metrics[i].metric
    selected, n_left = select_findings(
        i,
        is_listed if also is None else is_listed | also,
        analysis.critical[:, i],
        metric.higher_is_better,
        analysis.moments,
        analysis.grouping,
        analysis.options.n_threads,
        analysis.tested_error[i],
    )
    if also is not None:
        return [one for one in selected if also[one.position]], n_left
    harms = metric.harm(analysis.moments.difference[i])
    return sorted(selected, key=lambda one: float(harms[one.position]), reverse=True), n_left


def describe_findings(
    i: int, selected: Sequence[Selected], analysis: Analysis, verdicts: GroupVerdicts | None = None
) -> tuple[Finding, ...]:
    """The numbers of some groups."""
    if not selected:
        return ()
    measured, grouping, estimates = analysis.measured, analysis.grouping, analysis.estimates
    names = outcome_names(measured.metrics[i].metric.higher_is_better)
    simultaneous = estimates.simultaneous

    def describe(one: Selected) -> Finding:
        at = one.position
        return Finding(
            group=grouping.group(at).as_dict(),
            value=float(estimates.value[i, at]),
            support=int(analysis.moments.n[i, at]),
            n_users=int(grouping.lattice.n_users[at]),
            is_fully_scored=bool(analysis.is_fully_scored[at]),
            outcome=None if verdicts is None else names[verdicts.of_groups[at]],
            difference=float(estimates.difference[i, at]),
            raw_difference=float(estimates.raw_difference[i, at]),
            kept_share=float(analysis.kept_share[i, at]) if analysis.is_adjusted else None,
            shrunken_difference=float(estimates.shrunken_difference[i, at]),
            interval=(
                float(estimates.difference_low[i, at]),
                float(estimates.difference_high[i, at]),
            ),
            simultaneous=(
                finite_or_none(simultaneous.low[i, at]),
                finite_or_none(simultaneous.high[i, at]),
            ),
            p_value=float(analysis.p_values[i, at]),
            p_adjusted=float(analysis.adjusted_p_values[i, at]),
            random_sets=None
            if analysis.random_sets is None
            else float(analysis.random_sets[i, at]),
            n_folded=one.n_folded,
            because_of=None if one.because_of is None else grouping.group(one.because_of).as_dict(),
        )

    return tuple(map(describe, selected))


def best_and_worst(
    metric: MetricAtK, values: FloatArray, support: FloatArray, top: int
) -> tuple[IntArray, IntArray]:
    """Positions of the best and the worst served groups, at most `top` of each.

    Where neither end is better, of the highest and the lowest. Of equal values the group with
    most users comes first. No group is at both ends, and none at any where all values are equal.
    """
    if not len(values) or np.ptp(values) <= ROUNDING * np.abs(values).max():
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    bad = badness(values, metric.metric.higher_is_better)
    n = min(top, len(values) // 2)
    worst, best = np.lexsort((-support, -bad)), np.lexsort((-support, bad))
    worst = worst[bad[worst] > bad.min()][:n]
    return best[(bad[best] < bad.max()) & ~np.isin(best, worst)][:n], worst
