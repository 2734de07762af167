"""Findings: the groups that stand out by themselves, without those that merely overlap them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import members
from fairrec.metrics.direction import harm
from fairrec.statistics.moments import Moments

MAX_FINDINGS = 50
"""Findings listed for a metric; each costs a pass over the lattice to set aside."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The groups to report, strongest first, and how many each one explains.

    Parameters
    ----------
    groups : positions in the lattice
    n_folded : significant groups that no longer stand out once this one is set aside
    n_left : significant groups left over when the list was full
    """

    groups: list[int]
    n_folded: list[int]
    n_left: int


def select_findings(
    metric: int,
    is_significant: BoolArray,
    critical: float,
    higher_is_better: bool | None,
    moments: Moments,
    grouping: Grouping,
    threads: int = 1,
) -> Selection:
    """Take the strongest group, set its difference aside, keep what still stands out; repeat.

    Women under 25 are no second finding when all women are served alike, and women are none
    when only those under 25 are worse off: in both cases one group explains the other.

    Parameters
    ----------
    is_significant : (n_groups,), adjusted p-value at most alpha
    critical : absolute statistic a group must keep to be listed
    higher_is_better : the worse end wins a tie, such as that between the two values of an
        attribute
    """
    cells, lattice = grouping.cells, grouping.lattice
    # a group in a sample stands for all its users
    n, n_users = moments.n[metric], moments.n_users[metric]
    n_per_cell = cells.sums(moments.is_defined[metric])
    if moments.sample is not None:
        n, n_users = lattice.n_users.astype(np.float64), float(len(cells.of_user))
        n_per_cell = cells.n_users.astype(np.float64)
    to_total = n * np.maximum(n_users - n, 0) / n_users
    with np.errstate(invalid="ignore"):
        scale = np.nan_to_num(moments.chance_error[metric] * to_total)
        residual = np.nan_to_num(moments.difference[metric] * to_total)
    usable = is_significant & (scale > 0)
    sign = np.sign(residual)
    depth = (lattice.codes >= 0).sum(axis=1)
    open_groups = np.flatnonzero(usable)
    chosen: list[int] = []
    n_folded: list[int] = []
    while len(open_groups) and len(chosen) < MAX_FINDINGS:
        statistic = residual[open_groups] / scale[open_groups]
        is_better_end = harm(statistic, higher_is_better) <= 0
        # ties: the worse end, the fewer conditions, the smaller group
        order = np.lexsort(
            (
                open_groups,
                n[open_groups],
                depth[open_groups],
                is_better_end,
                -np.round(np.abs(statistic), 9),
            )
        )
        best = int(open_groups[order[0]])
        chosen.append(best)
        is_member = members(lattice.codes[best], cells)
        overlap = lattice.sums((n_per_cell * is_member)[None], threads)[0]
        # lift the group to the mean of all others, then centre again
        others = -residual[best] / (n_users - n[best])
        lift = others - residual[best] / n[best]
        residual += lift * overlap - lift * n[best] / n_users * n
        kept = np.abs(residual[open_groups] / scale[open_groups]) >= critical
        # what now stands out the other way would be listed with a difference that misleads
        kept &= np.sign(residual[open_groups]) == sign[open_groups]
        kept &= open_groups != best
        n_folded.append(int(len(open_groups) - kept.sum() - 1))
        open_groups = open_groups[kept]
    return Selection(chosen, n_folded, len(open_groups))
