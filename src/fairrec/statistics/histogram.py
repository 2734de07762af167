"""How the values of a group are spread, beside those of all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.cells import Cells
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import members
from fairrec.metrics.measured import Column, Measured
from fairrec.statistics.weighted import quantiles

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
