"""How special a group of items is: random sets of as many items beside it.

Whether a group gets less than others, whichever users come, is known from users drawn again. But
items differ one by one, and so do any few of them: a group of three may be far off because of these
three, and not because of what they share. So attributes are permuted over items, with both parts
of a ratio together, and it is counted how many random sets are as far off. That describes a group.
No verdict rests on it: the catalogue is no sample of items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray
from fairrec.core.threads import map_in_threads
from fairrec.groups.grouping import Grouping
from fairrec.statistics.drawing import draws_of
from fairrec.statistics.moments import Moments, over_sums
from fairrec.statistics.permutation import ROUNDING


def shares_of_random_sets(
    moments: Moments,
    grouping: Grouping,
    n_permutations: int,
    seed: int,
    threads: int = 1,
    advance: Callable[[int], None] = lambda n: None,
) -> FloatArray:
    """(n_metrics, n_groups), how many sets of as many items are as far from all others.

    In the same direction, and a group is one of the sets. NaN where it is compared with none.
    """
    sign, reach = np.sign(moments.difference), np.abs(moments.difference) * (1 - ROUNDING)
    # what is due to a row beyond 1, so that one without a value has nothing to permute
    below = np.where(moments.n_per_row > 0, moments.size_per_row - 1.0, 0.0)
    draws = draws_of(
        replace(
            moments,
            mean=np.concatenate([moments.mean, np.ones(len(below))]),
            centred_per_row=np.concatenate([moments.centred_per_row, below]),
            n_per_row=np.concatenate([moments.n_per_row, moments.n_per_row]),
        ),
        grouping.cells,
    )

    def is_as_far(number: int) -> BoolArray:
        """Of one permutation."""
        total, beyond = np.split(grouping.lattice.sums(draws.cell_sums(seed, number).total), 2)
        drawn = over_sums(replace(moments, total=total), moments.n + beyond)
        with np.errstate(invalid="ignore"):
            return np.asarray(sign * drawn.difference >= reach)

    n_as_far = np.ones(moments.n.shape)
    for is_reached in map_in_threads(is_as_far, range(n_permutations), threads):
        n_as_far += is_reached
        advance(1)
    return np.where(np.isfinite(moments.difference), n_as_far / (1 + n_permutations), np.nan)
