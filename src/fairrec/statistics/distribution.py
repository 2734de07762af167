"""The distribution of values in a group: quantiles, histograms, and a guard for intervals.

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
from fairrec.groups.cells import Cells
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import ANY, Lattice, Parents, members
from fairrec.metrics.measured import Column, Measured
from fairrec.statistics.moments import Moments
from fairrec.statistics.scores import Spread


def quantiles(values: FloatArray, n: FloatArray, shares: Sequence[float]) -> FloatArray:
    """Those of the values of all users, `n` of whom have each value.

    >>> quantiles(np.array([3.0, 1.0]), np.array([1.0, 4.0]), [0.5, 1.0]).tolist()
    [1.0, 3.0]
    """
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(n[order])
    place = (up_to[-1] - 1) * np.asarray(shares)
    below, above = (
        values[order][np.searchsorted(up_to, whole, side="right")]
        for whole in (np.floor(place), np.ceil(place))
    )
    return np.asarray(below + (above - below) * (place - np.floor(place)))


N_BINS = 20
MOST_LEVELS = 12
"""A metric with so few values has a bin for each."""
_OUTER = 0.005
_FAR = 3.0
"""A tail that reaches so many times as far as nearly all values is in one wide bin."""


class Histogram(NamedTuple):
    """Users in each bin."""

    own: IntArray
    others: IntArray


def bin_edges(values: FloatArray, n: FloatArray | None = None) -> FloatArray:
    """Where the bins of a metric begin and end; empty where there is nothing to see.

    Few values have a bin each, halfway to the next ones; else there are `N_BINS`, all alike but
    for the outer ones, which hold far tails.

    Parameters
    ----------
    n : users who have each value; None where each is a user's

    >>> bin_edges(np.array([0.0, 1.0, 1.0, 0.0])).tolist()
    [-0.5, 0.5, 1.5]
    """
    is_known = ~np.isnan(values)
    values, n = values[is_known], np.ones(is_known.sum()) if n is None else n[is_known]
    levels = np.unique(values)
    if len(levels) < 2:
        return np.zeros(0)
    if len(levels) <= MOST_LEVELS:
        between = (levels[1:] + levels[:-1]) / 2
        first, last = 2 * levels[0] - between[0], 2 * levels[-1] - between[-1]
        return np.concatenate([[first], between, [last]])
    low, high = levels[0], levels[-1]
    inner_low, inner_high = quantiles(values, n, [_OUTER, 1 - _OUTER])
    if high - low > _FAR * (inner_high - inner_low) > 0:
        low, high = inner_low, inner_high
    edges = np.linspace(low, high, N_BINS + 1)
    edges[0], edges[-1] = levels[0], levels[-1]
    return edges


def histograms(
    metric: int, groups: Sequence[int], edges: FloatArray, measured: Measured, grouping: Grouping
) -> list[Histogram]:
    """Of each of these groups, of the users by whom it is known.

    Parameters
    ----------
    groups : positions in the lattice
    """
    if not len(edges):
        nothing = np.zeros(0, dtype=np.int64)
        return [Histogram(nothing, nothing) for _ in groups]
    cells, column = grouping.cells, measured.on_levels.column(metric)
    # whoever is in a group, its users are those of some cells
    everyone = _counts_by_cell(column, column.n > 0, edges, cells)
    sampled = _counts_by_cell(column, measured.is_reference, edges, cells)
    is_scored = np.bincount(cells.of_user, ~measured.is_scored, len(cells)) == 0
    n_sampled = sampled.sum(axis=0)
    found = []
    for group in groups:
        is_member = members(grouping.lattice.codes[group], cells)
        others = n_sampled - sampled[is_member].sum(axis=0)
        # a group that is not fully scored is known by those of it who were drawn at random
        own = everyone if is_scored[is_member].all() else sampled
        found.append(Histogram(own[is_member].sum(axis=0), others))
    return found


def _counts_by_cell(
    column: Column, is_counted: BoolArray, edges: FloatArray, cells: Cells
) -> IntArray:
    """(n_cells, n_bins)."""
    n_bins = len(edges) - 1
    at = np.searchsorted(edges[1:-1], column.values, side="right")
    place = cells.of_user.astype(np.int64) * n_bins + at
    counts = np.bincount(place, np.where(is_counted, column.n, 0.0), len(cells) * n_bins)
    return counts.astype(np.int64).reshape(len(cells), n_bins)


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
