"""How large the groups would be if fewer of them were looked at."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import IntArray
from fairrec.groups.cells import number_combinations
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import ANY


def sizes_without(grouping: Grouping, attribute: int, depth: int | None) -> IntArray:
    """Users of each group, had the attribute at this position not been named.

    Parameters
    ----------
    depth : that of the grouping; None for the full combinations only
    """
    lattice, cells = grouping.lattice, grouping.cells
    sizes = lattice.n_users[lattice.codes[:, attribute] == ANY]
    rest = [at for at in range(len(cells.n_values)) if at != attribute]
    if not rest or (depth is not None and depth >= len(rest)):
        return np.asarray(sizes)
    # the full combinations of the rest are no groups of the lattice yet
    first, of_cell = number_combinations(
        [cells.codes[at] for at in rest], [cells.n_values[at] for at in rest]
    )
    full = np.bincount(of_cell, weights=cells.n_users, minlength=len(first)).astype(np.int64)
    return np.concatenate([sizes, full[full >= grouping.min_users]])


def next_depth(grouping: Grouping, depth: int | None) -> tuple[int, IntArray] | None:
    """The next lower depth with fewer groups, and users of each of these; None where there is none.

    Full combinations are looked at whatever the depth.
    """
    lattice = grouping.lattice
    depths = lattice.depth
    for lower in range(min(depth or 1, len(grouping.attributes)) - 1, 0, -1):
        is_kept = (depths <= lower) | lattice.is_full
        if not is_kept.all():
            return lower, lattice.n_users[is_kept]
    return None
