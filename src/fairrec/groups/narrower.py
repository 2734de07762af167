"""How large the groups would be if fewer of them were looked at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import IntArray
from fairrec.groups.cells import number_combinations
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import ANY


class Sizes(NamedTuple):
    """Users of each group, and its number of attributes; (n_groups,) each."""

    n_users: IntArray
    depth: IntArray


def sizes_of(grouping: Grouping) -> Sizes:
    """Those of the groups that are tested."""
    lattice = grouping.lattice
    return Sizes(lattice.n_users[lattice.is_tested], lattice.depth[lattice.is_tested])


def sizes_without(grouping: Grouping, attribute: int, depth: int | None) -> Sizes:
    """Those of the groups had the attribute at this position not been named.

    Parameters
    ----------
    depth : that of the grouping; None for the intersections of all attributes only
    """
    lattice, cells = grouping.lattice, grouping.cells
    rest = [at for at in range(len(cells.n_values)) if at != attribute]
    if depth is not None or not rest:
        is_left = lattice.is_tested & (lattice.codes[:, attribute] == ANY)
        return Sizes(lattice.n_users[is_left], lattice.depth[is_left])
    # the intersections of the rest are no groups of the lattice
    first, of_cell = number_combinations(
        [cells.codes[at] for at in rest], [cells.n_values[at] for at in rest]
    )
    full = np.bincount(of_cell, weights=cells.n_users, minlength=len(first)).astype(np.int64)
    full = full[full >= grouping.min_users]
    return Sizes(full, np.full(len(full), len(rest)))


def next_depth(grouping: Grouping, depth: int | None) -> tuple[int, Sizes] | None:
    """The next lower depth with fewer groups, and these; None where there is none."""
    sizes = sizes_of(grouping)
    for lower in range(min(depth or 1, len(grouping.attributes)) - 1, 0, -1):
        is_kept = sizes.depth <= lower
        if not is_kept.all():
            return lower, Sizes(sizes.n_users[is_kept], sizes.depth[is_kept])
    return None
