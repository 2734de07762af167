"""Findings: the groups that stand out by themselves, without those that merely overlap them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import members
from fairrec.metrics.direction import harm
from fairrec.statistics.moments import Moments
from fairrec.statistics.simultaneous import DOWN, UP

MAX_FINDINGS = 200
"""Findings listed for a metric; each costs a pass over the lattice to set aside."""
WINDOW = 1.0
"""Scores by which a group at the worse end may stand out less and still come first."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The groups to report, strongest first, and how many each one explains.

    Parameters
    ----------
    groups : positions in the lattice
    n_folded : significant groups that no longer stand out once this one is set aside
    because_of : for a group that is worse off only because another is served better, that other one
    n_left : significant groups left over when the list was full
    """

    groups: list[int]
    n_folded: list[int]
    because_of: list[int | None]
    n_left: int


def select_findings(
    metric: int,
    is_significant: BoolArray,
    critical: FloatArray,
    higher_is_better: bool | None,
    moments: Moments,
    grouping: Grouping,
    threads: int = 1,
    error: FloatArray | None = None,
) -> Selection:
    """Take the strongest group, set its difference aside, keep what still stands out; repeat.

    Women under 25 are no second finding when all women are served alike, and women are none
    when only those under 25 are worse off: in both cases one group explains the other. But where
    somebody is worse off it is always said who, also if a group that is served better explains it.

    Parameters
    ----------
    is_significant : (n_groups,), adjusted p-value at most alpha
    critical : (2,) or (2, n_groups), score up and down that a group must keep to be listed
    higher_is_better : the worse end comes first where it stands out about as far, such as the
        worse of the two values of an attribute
    error : (n_groups,), of the differences, in which scores are; None for the chance error
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
    chosen: list[int] = []
    n_folded: list[int] = []
    folded_into = np.full(len(n), -1)
    while len(open_groups) and len(chosen) < MAX_FINDINGS:
        score = residual[open_groups] / scale[open_groups]
        is_better_end = harm(score, higher_is_better) <= 0
        # two ends of one difference stand out alike, and luck decides which does more
        reach = np.abs(score) + np.where(is_better_end, 0.0, WINDOW)
        # ties: the worse end, the fewer conditions, the smaller group
        order = np.lexsort(
            (
                open_groups,
                n[open_groups],
                depth[open_groups],
                is_better_end,
                -np.round(reach, 9),
            )
        )
        best = int(open_groups[order[0]])
        few = int(grouping.complement[best])
        if grouping.is_rest[best] and few in open_groups:
            # one difference, of which the few are named
            best = few
        chosen.append(best)
        is_member = members(lattice.codes[best], cells)
        overlap = lattice.sums((n_per_cell * is_member)[None], threads)[0]
        # lift the group to the mean of all others, then centre again within strata
        lift = -residual[best] / to_total[best]
        residual += lift * (overlap - _expected(is_member, n, best, n_per_row, moments, grouping))
        kept = np.abs(residual[open_groups] / scale[open_groups]) >= least[open_groups]
        # what now stands out the other way would be listed with a difference that misleads
        kept &= np.sign(residual[open_groups]) == sign[open_groups]
        kept &= open_groups != best
        n_folded.append(int(len(open_groups) - kept.sum() - 1))
        folded_into[open_groups[~kept]] = best
        open_groups = open_groups[kept]
    because_of: list[int | None] = [None] * len(chosen)
    hidden = _worst_of_folded(at_first, folded_into, chosen, higher_is_better, depth)
    if hidden is not None:
        explains = int(folded_into[hidden])
        n_folded[chosen.index(explains)] -= 1
        chosen, n_folded, because_of = [*chosen, hidden], [*n_folded, 0], [*because_of, explains]
    return Selection(chosen, n_folded, because_of, len(open_groups))


def _worst_of_folded(
    score: FloatArray,
    folded_into: IntArray,
    chosen: list[int],
    higher_is_better: bool | None,
    depth: IntArray,
) -> int | None:
    """The group at the worse end that stands out most, where none of those chosen is there."""
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
    """(n_groups,), the users each group would share with one if its users were drawn at random.

    At random within strata: as many as it has there, by the share of each that is in the one.
    """
    cells, strata = grouping.cells, moments.strata
    if strata.n_strata == 1:
        return np.asarray(n * (n[group] / n_per_row.sum()))
    in_group = strata.sums(n_per_row * is_member[cells.of_user])
    share = in_group / np.maximum(strata.sums(n_per_row), 1)
    per_cell = cells.sums(share[strata.of_user] * n_per_row)
    return np.asarray(grouping.lattice.sums(per_cell[None])[0])
