"""What a group's difference could be if unknown values of attributes were known.

Users without a value form a group of their own, `(missing)`. Whoever they truly are, some of them
may belong to other groups; the bounds hold over every way to fill in what is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import ANY
from fairrec.inputs.users import MISSING
from fairrec.metrics.direction import harm
from fairrec.metrics.measured import Measured

GROUPS_LISTED = 50
"""Of each attribute, the largest groups."""
_MOST_LOOKS = 200_000_000
"""At users with unknown values and their cells, once a group; groups beyond have no bounds."""
_WORTH_A_SCAN = 16
"""Times the users who may join a group, up to which all are gone through rather than sorted."""
_MOST_IN_STEPS = 5_000
"""Groups whose bounds are worked out from levels, which takes longer."""


@dataclass(frozen=True, slots=True)
class UnknownBounds:
    """The range in which the difference of each group of one metric must lie; (n_groups,) each.

    Parameters
    ----------
    difference : mean of those known to belong minus mean of all others, the unknown among these
    low, high : over all subsets of the unknown users that could belong too; NaN where there are no
        others, and where there were too many groups
    n_known, n_unknown, n_all : users with a value of the metric
    """

    difference: FloatArray
    low: FloatArray
    high: FloatArray
    n_known: IntArray
    n_unknown: IntArray
    n_all: int


def unknown_bounds(
    metric: int, findings: Sequence[int], measured: Measured, grouping: Grouping
) -> UnknownBounds | None:
    """Bounds of all groups; None where every attribute is known of everyone.

    None after a search too, where most users are unknown in another sense. Of more groups than can
    be looked at those of the fewest attributes and the findings have bounds.

    Parameters
    ----------
    metric : position among those measured
    findings : positions in the lattice
    """
    unknown_codes = find_unknown_codes(grouping)
    if not measured.is_complete or (unknown_codes == ANY).all():
        return None
    column, cells, lattice = measured.term(metric), grouping.cells, grouping.lattice
    centred = np.where(column.n > 0, column.values - column.mean, 0.0)
    per_row = (column.n, centred * column.n, column.size)
    n_known, total, size = lattice.sums(np.stack([cells.sums(row) for row in per_row]))
    n_all = column.n_users
    is_unknown = (cells.codes == unknown_codes[:, None]) & (unknown_codes != ANY)[:, None]
    at_cell = np.flatnonzero(is_unknown.any(axis=0))
    has_others = (size > 0) & (size < n_all * (1 - _ROUNDING))
    groups = np.flatnonzero(has_others)
    is_first = np.isin(groups, findings)
    groups = groups[np.lexsort((-n_known[groups], lattice.depth[groups], ~is_first))]
    number = np.full(len(cells), -1)
    number[at_cell] = np.arange(len(at_cell))
    rows = np.flatnonzero((number[cells.of_user] >= 0) & (column.n > 0))
    most = _MOST_LOOKS // max(1, len(at_cell) + len(rows))
    # of the same attributes side by side, as the same users may join many of them
    groups = np.sort(groups[: most if measured.alike is None else min(most, _MOST_IN_STEPS)])
    sums = lattice.codes[groups], total[groups], size[groups], n_all
    where = unknown_codes, cells.codes[:, at_cell], number[cells.of_user[rows]]
    n_unknown = np.zeros(len(lattice), dtype=np.int64)
    low, high = np.full((2, len(lattice)), np.nan)
    n_unknown[groups], low[groups], high[groups] = (
        _bounds_by_users(*sums, *where, centred[rows], column.size[rows].astype(np.float64))
        if measured.alike is None
        else _bounds_by_levels(
            *sums,
            *where,
            # values, users, squares within rows, and users who are alike
            (centred[rows], column.n[rows], column.inner[rows], measured.alike.level[metric][rows]),
        )
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.where(has_others, total * (1 / size + 1 / (n_all - size)), np.nan)
    return UnknownBounds(difference, low, high, n_known.astype(np.int64), n_unknown, int(n_all))


def _bounds_by_users(
    codes: CodeArray,
    total: FloatArray,
    size: FloatArray,
    n_all: float,
    unknown_codes: CodeArray,
    cells: CodeArray,
    cell_of_row: IntArray,
    values: FloatArray,
    sizes: FloatArray,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """How many users may join each group, and the bounds of its difference.

    Parameters
    ----------
    codes : (n_groups, n_attributes)
    total, size : (n_groups,), sums over those who belong for sure
    cells : (n_attributes, n_cells), those with unknown values
    cell_of_row, values, sizes : (n_rows,), of users in these; values around the mean of all
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ascending = np.argsort(values / sizes, kind="stable")
    place = np.empty(len(ascending), dtype=np.int64)
    place[ascending] = np.arange(len(ascending))
    by_cell = np.argsort(cell_of_row, kind="stable")
    low, high = found = np.empty((2, len(codes)))
    n_unknown = _bounds_of_users(
        codes,
        unknown_codes,
        np.ascontiguousarray(cells.T),
        np.searchsorted(cell_of_row[by_cell], np.arange(cells.shape[1] + 1)),
        place[by_cell],
        cell_of_row[ascending],
        values[ascending],
        sizes[ascending],
        total,
        size,
        n_all,
        found,
    )
    return n_unknown, low, high


def _bounds_by_levels(
    codes: CodeArray,
    total: FloatArray,
    size: FloatArray,
    n_all: float,
    unknown_codes: CodeArray,
    cells: CodeArray,
    cell_of_row: IntArray,
    rows: tuple[FloatArray, BoolArray | FloatArray, FloatArray, IntArray],
) -> tuple[IntArray, FloatArray, FloatArray]:
    """The same of rows that are users on levels."""
    n_unknown = np.zeros(len(codes), dtype=np.int64)
    low, high = total * (1 / size + 1 / (n_all - size)) * np.ones((2, 1))
    for at, of in enumerate(codes[:, :, None]):
        is_met = (of == ANY) | (cells == of)
        may_be = (is_met | (cells == unknown_codes[:, None])).all(axis=0)
        joins = (may_be & ~is_met.all(axis=0))[cell_of_row]
        values, n, inner, level = (part[joins] for part in rows)
        n = n.astype(np.float64)
        n_unknown[at] = n.sum()
        if n_unknown[at]:
            joined = sum_joining_levels(values, n, inner, level)
            low[at], high[at] = difference_bounds(total[at], size[at], n_all, joined)
    return n_unknown, low, high


def find_unknown_codes(grouping: Grouping) -> CodeArray:
    """(n_attributes,), the code of an unknown value; ANY where an attribute has none."""
    return np.array(
        [
            attribute.values.index(MISSING) if MISSING in attribute.values else ANY
            for attribute in grouping.attributes
        ],
        dtype=np.int32,
    )


def select_bounds(
    bounds: UnknownBounds,
    findings: Sequence[int],
    higher_is_better: bool | None,
    grouping: Grouping,
) -> list[int]:
    """Groups of one attribute and findings to which unknown users may belong.

    The largest harm first, for its size.

    Parameters
    ----------
    findings : positions in the lattice
    """
    lattice = grouping.lattice
    may_grow = (bounds.n_unknown > 0) & (bounds.n_known >= grouping.min_users)
    # nobody can turn out to be a user whose value is unknown
    is_unknown = (lattice.codes == find_unknown_codes(grouping)) & (lattice.codes != ANY)
    may_grow &= ~is_unknown.any(axis=1)
    listed = [group for group in findings if may_grow[group]]
    for of_attribute in (lattice.codes != ANY).T:
        groups = np.flatnonzero(of_attribute & (lattice.depth == 1) & may_grow)
        largest = groups[np.argsort(-lattice.n_users[groups], kind="stable")]
        listed += [int(group) for group in largest[:GROUPS_LISTED] if group not in listed]
    n = bounds.n_known
    strength = harm(bounds.difference, higher_is_better) * np.sqrt(n * (1 - n / bounds.n_all))
    return sorted(listed, key=lambda group: float(strength[group]), reverse=True)


_ROUNDING = 1e-9
"""What all have below in ratios, added up, is as many as they are but for this."""


class Joined(NamedTuple):
    """Sums over the lowest values of those who may belong, and over the highest.

    Parameters
    ----------
    n : (2, n_sizes), how many join, or what they add to what sums are divided by
    total : (2, n_sizes), the smallest sum that so many can have, and the largest
    """

    n: FloatArray
    total: FloatArray


_STEPS = 64
"""Sizes looked at within a level; a difference changes little between two of them."""


def sum_joining_levels(
    value: FloatArray, n: FloatArray, inner: FloatArray, level: IntArray
) -> Joined:
    """The same of users on levels, of whom those of a lower level have lower values.

    Within a level nobody knows who is lower. The sum over any `j` of `n` users is off by at most
    `sqrt(squares * j * (n - j) / n)` from `j` times the mean (Cauchy and Schwarz).

    Parameters
    ----------
    value, n, inner, level : of rows
    """
    _, at = np.unique(level, return_inverse=True)
    n_level = np.bincount(at, weights=n)
    mean = np.bincount(at, weights=n * value) / n_level
    squares = np.bincount(at, weights=inner + n * (value - mean[at]) ** 2)
    sizes, totals = [], []
    for sign in (1.0, -1.0):
        order = np.argsort(sign * mean, kind="stable")
        share = np.arange(_STEPS + 1) / _STEPS
        taken = np.floor(n_level[order, None] * share)
        off = np.sqrt((squares * n_level)[order, None] * share * (1 - share))
        before = np.cumsum(n_level[order]) - n_level[order]
        sum_before = np.cumsum((n_level * mean)[order]) - (n_level * mean)[order]
        sizes.append((before[:, None] + taken).ravel())
        totals.append((sum_before[:, None] + taken * mean[order, None] - sign * off).ravel())
    return Joined(np.stack(sizes), np.stack(totals))


def difference_bounds(
    total: float, n_known: float, n_all: float, joined: Joined
) -> tuple[float, float]:
    """The smallest and the largest difference between a group and all others.

    Of all subsets of one size, that of the largest values has the largest difference; so as many
    subsets as there are sizes hold the extremes. Of ratios they hold them where the largest is
    above 0 and the smallest below; of differences that all have one sign, the end next to 0 may be
    missed by a little.

    Parameters
    ----------
    total : sum over the `n_known` users who belong for sure
    n_all : all users, whose values add up to 0
    joined : sums over those who may belong too
    """
    n = n_known + joined.n
    # a group of everybody has nobody to be compared with
    n_others = np.where(n < n_all * (1 - _ROUNDING), n_all - n, np.nan)
    lowest, highest = (total + joined.total) * (1 / n + 1 / n_others)
    return float(np.nanmin(lowest)), float(np.nanmax(highest))


@kernel
def _bounds_of_users(
    codes: CodeArray,
    unknown_codes: CodeArray,
    cell_codes: CodeArray,
    starts: IntArray,
    places: IntArray,
    cell_at: IntArray,
    values: FloatArray,
    sizes: FloatArray,
    totals: FloatArray,
    n_known: FloatArray,
    n_all: float,
    found: FloatArray,
) -> IntArray:
    """How many users may join each group, and the bounds of its difference.

    Parameters
    ----------
    codes : (n_groups, n_attributes)
    cell_codes : (n_cells, n_attributes), of the cells with unknown values
    starts : (n_cells + 1,), where the rows of each cell begin in `places`
    places : (n_rows,), where a row is in the order from the lowest value for its size
    cell_at : (n_rows,), in that order, the cell of each
    values, sizes : (n_rows,), in that order: what each adds to a sum, and to what it is divided by
    totals, n_known : (n_groups,), sums over those who belong for sure
    found : (2, n_groups), written to: the smallest and the largest difference
    """
    joins, before = np.zeros((2, len(cell_codes)), dtype=np.bool_)
    joining = np.empty(len(places), dtype=np.int64)
    n_unknown = np.zeros(len(codes), dtype=np.int64)
    n = 0
    for group in range(len(codes)):
        _mark_joining(codes[group], unknown_codes, cell_codes, joins)
        if (joins != before).any():
            before[:] = joins
            n = _place_joining(joins, starts, places, cell_at, joining)
        n_unknown[group] = n
        for end in range(2):
            total, size = totals[group], n_known[group]
            extreme = total * (1 / size + 1 / (n_all - size))
            for at in range(n):
                row = joining[at] if end == 0 else joining[n - 1 - at]
                total += values[row]
                size += sizes[row]
                # a group of everybody has nobody to be compared with
                if size < n_all * (1 - _ROUNDING):
                    difference = total * (1 / size + 1 / (n_all - size))
                    extreme = min(extreme, difference) if end == 0 else max(extreme, difference)
            found[end, group] = extreme
    return n_unknown


@kernel
def _mark_joining(
    codes: CodeArray, unknown_codes: CodeArray, cell_codes: CodeArray, joins: BoolArray
) -> None:
    """Mark the cells that meet every condition that is known of them, and not all of them."""
    for cell in range(len(cell_codes)):
        may_be, is_member = True, True
        for attribute in range(len(codes)):
            of_cell = cell_codes[cell, attribute]
            if codes[attribute] >= 0 and codes[attribute] != of_cell:
                is_member = False
                if of_cell != unknown_codes[attribute]:
                    may_be = False
                    break
        joins[cell] = may_be and not is_member


@kernel
def _place_joining(
    joins: BoolArray, starts: IntArray, places: IntArray, cell_at: IntArray, joining: IntArray
) -> int:
    """Write where the rows of marked cells are, in ascending order; returns how many."""
    n_joining = n = 0
    for cell in range(len(joins)):
        if joins[cell]:
            n_joining += starts[cell + 1] - starts[cell]
    if n_joining * _WORTH_A_SCAN > len(places):
        for at in range(len(places)):
            if joins[cell_at[at]]:
                joining[n] = at
                n += 1
        return n
    for cell in range(len(joins)):
        if joins[cell]:
            for at in range(starts[cell], starts[cell + 1]):
                joining[n] = places[at]
                n += 1
    joining[:n].sort()
    return n
