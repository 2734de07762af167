"""Groups whose values are distributed otherwise: a guard for their intervals.

Where three of four users of a country give 1 and one of four gives 5, ten of them may all give 1.
Neither their mean nor their variance shows what is missing. So where a group, or a group that
contains it, varies clearly more than everyone, its variance is drawn to that of the widest group
that contains it. Elsewhere nothing changes: among rare hits of one rate for all it would only add
noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.lattice import ANY, Lattice
from fairrec.statistics.moments import Moments
from fairrec.statistics.scores import Spread

TRIGGER = 1.5
"""Times the variance of everyone from which on a group is guarded."""
ANCESTOR_USERS = 10.0
"""Weight, in users, of the widest group that contains a group."""


class GuardedSpread(NamedTuple):
    """The spread of groups; (n_metrics, n_groups).

    Parameters
    ----------
    is_guarded : groups that vary more than everyone, or are part of one that does
    """

    spread: Spread
    is_guarded: BoolArray


def guard_spread(spread: Spread, moments: Moments, lattice: Lattice) -> GuardedSpread:
    """The spread of groups, where they are guarded at least that drawn to their widest ancestor."""
    own, everyone = np.nan_to_num(spread.variance), moments.variance[:, None]
    of_ancestor = widest_ancestor(own, lattice)
    is_guarded = np.maximum(own, of_ancestor) > TRIGGER * everyone
    n = moments.n
    drawn = (n * own + ANCESTOR_USERS * of_ancestor) / (n + ANCESTOR_USERS)
    variance = np.where(is_guarded, np.fmax(spread.variance, drawn), spread.variance)
    times = np.divide(variance, own, out=np.ones_like(own), where=own > 0)
    dispersion = np.minimum(spread.dispersion * times, 1.0)
    return GuardedSpread(spread._replace(variance=variance, dispersion=dispersion), is_guarded)


def widest_ancestor(variance: FloatArray, lattice: Lattice) -> FloatArray:
    """(n_metrics, n_groups), the largest variance of the groups that contain each; 0 without any.

    Groups are reached one condition at a time, so an intersection of all attributes, which is there
    for the gap alone, may have none.

    Parameters
    ----------
    variance : (n_metrics, n_groups)
    """
    found, depth, parents = np.zeros_like(variance), lattice.depth, parents_of(lattice)
    for conditions in range(2, int(depth.max(initial=0)) + 1):
        is_here = depth == conditions
        for of_attribute in parents:
            group = np.flatnonzero(is_here & (of_attribute >= 0))
            parent = of_attribute[group]
            widest = np.maximum(variance[:, parent], found[:, parent])
            found[:, group] = np.maximum(found[:, group], widest)
    return found


def parents_of(lattice: Lattice) -> IntArray:
    """(n_attributes, n_groups), the group without the condition on an attribute; -1 without one."""
    codes = lattice.codes
    found = np.full((codes.shape[1], len(codes)), -1)
    # the sum of a random number for each condition tells groups apart, whatever their order
    rng = np.random.default_rng(0)
    numbers = np.zeros(codes.shape[::-1], dtype=np.int64)
    for attribute, column in enumerate(codes.T):
        of_value = rng.integers(1 << 62, size=int(column.max(initial=0)) + 1)
        numbers[attribute] = np.where(column == ANY, 0, of_value[column])
    key = numbers.sum(axis=0)
    order = np.argsort(key, kind="stable")
    in_order = key[order]
    for attribute, column in enumerate(codes.T):
        group = np.flatnonzero(column != ANY)
        wanted = key[group] - numbers[attribute, group]
        place = np.minimum(np.searchsorted(in_order, wanted), len(codes) - 1)
        found[attribute, group] = np.where(in_order[place] == wanted, order[place], -1)
    return found
