"""Groups whose values are distributed otherwise: a guard for their intervals.

Where three of four users of a country give 1 and one of four gives 5, ten of them may all give 1.
Neither their mean nor their variance shows what is missing. So where a group, or a group that
contains it, varies clearly more than everyone, its variance is drawn to that of the widest group
that contains it. Elsewhere nothing changes: among rare hits of one rate for all it would only add
noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.lattice import ANY, Lattice, Parents
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
    for the gap alone, may have none. Where every city is in one country, a city is a part of that
    country, as it has the same users as the city in its country.

    Parameters
    ----------
    variance : (n_metrics, n_groups)
    """
    found, links = np.zeros_like(variance), _links(lattice)
    _inherit(found, variance, links)
    for group, parent in reversed(links):
        is_same = lattice.n_users[group] == lattice.n_users[parent]
        alike, named = group[is_same], parent[is_same]
        found[:, named] = np.maximum(found[:, named], found[:, alike])
    _inherit(found, variance, links)
    return found


def _links(lattice: Lattice) -> list[tuple[IntArray, IntArray]]:
    """Groups and their parents without one attribute, fewest conditions first."""
    codes, depth, parents = lattice.codes, lattice.depth, Parents(lattice)
    links = []
    for conditions in range(2, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == conditions)
        for attribute in range(codes.shape[1]):
            group = here[codes[here, attribute] != ANY]
            parent = parents.without(attribute, group)
            links.append((group[parent >= 0], parent[parent >= 0]))
    return links


def _inherit(
    found: FloatArray, variance: FloatArray, links: Sequence[tuple[IntArray, IntArray]]
) -> None:
    """Raise what was found for groups to what their parents have."""
    for group, parent in links:
        widest = np.maximum(variance[:, parent], found[:, parent])
        found[:, group] = np.maximum(found[:, group], widest)
