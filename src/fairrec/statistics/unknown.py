"""Bounds of a group's difference over all ways to fill in unknown attributes.

Users without a value form the group `(missing)`, and some of them may belong to other groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, Field

from fairrec.core.arrays import ROUNDING, BoolArray, CodeArray, FloatArray, IntArray, finite_or_none
from fairrec.core.kernels import kernel
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import ANY
from fairrec.inputs.users import MISSING, Value
from fairrec.metrics.direction import harm
from fairrec.metrics.measured import Measured

if TYPE_CHECKING:
    from fairrec.statistics.analysis import Analysis

GROUPS_LISTED = 50
"""Of each attribute, the largest groups."""
_MOST_LOOKS = 200_000_000
"""Users with unknown values and their cells, once a group; groups beyond have no bounds."""
_MOST_BY_LEVELS = 5_000
"""Groups whose bounds are computed from levels, which takes longer."""
_STEPS = 64
"""Sizes of subsets within a level."""


class Unknown(BaseModel, frozen=True, extra="forbid"):
    """A group to which users may belong whose attributes are not known."""

    group: dict[str, Value]
    n_known: int = Field(description="users who belong to it, with a value")
    n_unknown: int = Field(description="users who may belong to it, with a value")
    difference: float = Field(
        description="mean of those who belong to it minus mean of all others, unknown ones included"
    )
    bounds: tuple[float, float] = Field(
        description="smallest and largest difference, whichever of the unknown users belong to it"
    )
    at_worst: float | None = Field(
        default=None,
        description="the difference at the worse end of the bounds and of the simultaneous "
        "interval on top; null where it has no limit, or nothing was tested",
    )


@dataclass(frozen=True, slots=True)
class UnknownBounds:
    """The range of the difference of each group of one metric; (n_groups,) each.

    Parameters
    ----------
    difference : mean of the known users minus mean of all others, unknown ones included
    low, high : over all subsets of unknown users that may belong; NaN where there are no others, or
        too many groups
    n_known, n_unknown, n_all : users with a value of the metric
    """

    difference: FloatArray
    low: FloatArray
    high: FloatArray
    n_known: IntArray
    n_unknown: IntArray
    n_all: int

    def at_worst(self, metric: int, analysis: Analysis) -> FloatArray:
        """(n_groups,), the worst difference within the bounds, with the simultaneous interval."""
        difference = analysis.moments.difference[metric]
        least, most = (end[metric] for end in analysis.estimates.simultaneous)
        low: FloatArray = self.low + (least - difference)
        high: FloatArray = self.high + (most - difference)
        better = analysis.measured.metrics[metric].metric.higher_is_better
        if better is None:
            return np.where(np.abs(low) > np.abs(high), low, high)
        return low if better else high

    def describe(
        self, metric: int, groups: Sequence[int], analysis: Analysis
    ) -> tuple[Unknown, ...]:
        """Some groups, by their positions in the lattice."""
        at_worst = self.at_worst(metric, analysis)
        return tuple(
            Unknown(
                group=analysis.grouping.group(at).as_dict(),
                n_known=int(self.n_known[at]),
                n_unknown=int(self.n_unknown[at]),
                difference=float(self.difference[at]),
                bounds=(float(self.low[at]), float(self.high[at])),
                at_worst=finite_or_none(at_worst[at]),
            )
            for at in groups
        )


def unknown_bounds(
    metric: int, findings: Sequence[int], measured: Measured, grouping: Grouping
) -> UnknownBounds | None:
    """Bounds of all groups; None where all attributes are known, and after a search.

    Of too many groups, the findings and those of the fewest attributes have bounds.

    Parameters
    ----------
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
    has_others = (size > 0) & (size < n_all * (1 - ROUNDING))
    groups = np.flatnonzero(has_others)
    is_first = np.isin(groups, findings)
    groups = groups[np.lexsort((-n_known[groups], lattice.depth[groups], ~is_first))]
    number = np.full(len(cells), -1)
    number[at_cell] = np.arange(len(at_cell))
    rows = np.flatnonzero((number[cells.of_user] >= 0) & (column.n > 0))
    most = _MOST_LOOKS // max(1, len(at_cell) + len(rows))
    alike = measured.alike
    # of the same attributes side by side, as the same users may join many of them
    groups = np.sort(groups[: most if alike is None else min(most, _MOST_BY_LEVELS)])
    sums = lattice.codes[groups], total[groups], size[groups], n_all, unknown_codes
    cell_codes, cell_of_row = cells.codes[:, at_cell], number[cells.of_user[rows]]
    n_unknown = np.zeros(len(lattice), dtype=np.int64)
    low, high = found = np.full((2, len(lattice)), np.nan)
    bounds = np.empty((2, len(groups)))
    if alike is None:
        values, sizes = centred[rows], column.size[rows].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            ascending = np.argsort(values / sizes, kind="stable")
        by_row = cell_of_row[ascending], values[ascending], sizes[ascending]
        by_cell = np.ascontiguousarray(cell_codes.T)
        n_unknown[groups] = _bounds_by_users(*sums, by_cell, *by_row, bounds)
    else:
        by_level = centred[rows], column.n[rows], column.inner[rows], alike.level[metric][rows]
        n_unknown[groups] = _bounds_by_levels(*sums, cell_codes, cell_of_row, by_level, bounds)
    found[:, groups] = bounds
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.where(has_others, total * (1 / size + 1 / (n_all - size)), np.nan)
    return UnknownBounds(difference, low, high, n_known.astype(np.int64), n_unknown, int(n_all))


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

    The largest harm for its size comes first.
    """
    lattice = grouping.lattice
    may_grow = (bounds.n_unknown > 0) & (bounds.n_known >= grouping.min_users)
    # no user belongs to a group of unknown values after all
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


def _bounds_by_levels(
    codes: CodeArray,
    total: FloatArray,
    size: FloatArray,
    n_all: float,
    unknown_codes: CodeArray,
    cells: CodeArray,
    cell_of_row: IntArray,
    rows: tuple[FloatArray, BoolArray | FloatArray, FloatArray, IntArray],
    bounds: FloatArray,
) -> IntArray:
    """The same as `_bounds_by_users`, of rows that are users on levels.

    Of all subsets of one size, that of the largest values has the largest difference.

    Parameters
    ----------
    rows : (n_rows,) each: values, users, squares within rows, and levels
    """
    n_unknown = np.zeros(len(codes), dtype=np.int64)
    bounds[:] = total * (1 / size + 1 / (n_all - size))
    for at, of in enumerate(codes[:, :, None]):
        is_met = (of == ANY) | (cells == of)
        may_be = (is_met | (cells == unknown_codes[:, None])).all(axis=0)
        joins = (may_be & ~is_met.all(axis=0))[cell_of_row]
        values, n, inner, level = (part[joins] for part in rows)
        n_unknown[at] = n.sum()
        if n_unknown[at]:
            n_joined, joined = _sum_joining(values, n.astype(np.float64), inner, level)
            n_in = size[at] + n_joined
            # a group of all users has no others to be compared with
            n_others = np.where(n_in < n_all * (1 - ROUNDING), n_all - n_in, np.nan)
            lowest, highest = (total[at] + joined) * (1 / n_in + 1 / n_others)
            bounds[:, at] = np.nanmin(lowest), np.nanmax(highest)
    return n_unknown


def _sum_joining(
    value: FloatArray, n: FloatArray, inner: FloatArray, level: IntArray
) -> tuple[FloatArray, FloatArray]:
    """(2, n_sizes) each, how many users join, and the smallest and largest sum of as many.

    Users of a lower level have lower values. Within a level, the sum over any `j` of `n` users is
    off by at most `sqrt(squares * j * (n - j) / n)` from `j` times the mean (Cauchy and Schwarz).
    """
    _, at = np.unique(level, return_inverse=True)
    n_level = np.bincount(at, weights=n)
    mean = np.bincount(at, weights=n * value) / n_level
    squares = np.bincount(at, weights=inner + n * (value - mean[at]) ** 2)
    share = np.arange(_STEPS + 1) / _STEPS
    sizes, totals = [], []
    for sign in (1.0, -1.0):
        order = np.argsort(sign * mean, kind="stable")
        taken = np.floor(n_level[order, None] * share)
        off = np.sqrt((squares * n_level)[order, None] * share * (1 - share))
        before, sum_before = (
            (np.cumsum(part[order]) - part[order])[:, None] for part in (n_level, n_level * mean)
        )
        sizes.append((before + taken).ravel())
        totals.append((sum_before + taken * mean[order, None] - sign * off).ravel())
    return np.stack(sizes), np.stack(totals)


@kernel
def _bounds_by_users(
    codes: CodeArray,
    totals: FloatArray,
    n_known: FloatArray,
    n_all: float,
    unknown_codes: CodeArray,
    cell_codes: CodeArray,
    cell_of_row: IntArray,
    values: FloatArray,
    sizes: FloatArray,
    bounds: FloatArray,
) -> IntArray:
    """How many users may join each group, and the bounds of its difference.

    Bounds of ratios hold where the largest is above 0 and the smallest below; if all have one sign,
    the end next to 0 may be missed by a little.

    Parameters
    ----------
    totals, n_known : (n_groups,), sums over users who surely belong, around the mean of all
    cell_codes : (n_cells, n_attributes), of the cells with unknown values
    cell_of_row, values, sizes : (n_rows,), of users in these, from the lowest value for its size:
        what each adds to a sum, and to its divisor
    bounds : (2, n_groups), written to: the smallest and the largest difference
    """
    joins = np.zeros(len(cell_codes), dtype=np.bool_)
    joining = np.empty(len(values), dtype=np.int64)
    n_unknown = np.zeros(len(codes), dtype=np.int64)
    n = 0
    for group in range(len(codes)):
        is_same = True
        for cell in range(len(cell_codes)):
            # users who meet every condition that is known of them, and not all of them
            may_be, is_member = True, True
            for attribute in range(len(unknown_codes)):
                of_group, of_cell = codes[group, attribute], cell_codes[cell, attribute]
                if of_group >= 0 and of_group != of_cell:
                    is_member = False
                    may_be = may_be and of_cell == unknown_codes[attribute]
            now = may_be and not is_member
            is_same = is_same and now == joins[cell]
            joins[cell] = now
        if not is_same:
            n = 0
            for row in range(len(values)):
                if joins[cell_of_row[row]]:
                    joining[n] = row
                    n += 1
        n_unknown[group] = n
        for end in range(2):
            total, size = totals[group], n_known[group]
            extreme = total * (1 / size + 1 / (n_all - size))
            for at in range(n):
                row = joining[at] if end == 0 else joining[n - 1 - at]
                total += values[row]
                size += sizes[row]
                # a group of all users has no others to be compared with
                if size < n_all * (1 - ROUNDING):
                    difference = total * (1 / size + 1 / (n_all - size))
                    extreme = min(extreme, difference) if end == 0 else max(extreme, difference)
            bounds[end, group] = extreme
    return n_unknown
