"""What a group's difference could be if unknown values of attributes were known.

Users without a value form a group of their own, `(missing)`. Whoever they truly are, some of them
may belong to other groups; the bounds hold over every way to fill in what is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import ANY, members
from fairrec.inputs.users import MISSING
from fairrec.metrics.direction import harm
from fairrec.metrics.measured import Measured

GROUPS_TOLD = 50
"""Of each attribute, the largest groups."""


@dataclass(frozen=True, slots=True)
class UnknownBounds:
    """A group and the range its difference must lie in.

    Parameters
    ----------
    position : in the lattice
    difference : mean of those known to belong minus mean of all others, the unknown among these
    low, high : over all subsets of the unknown users that could belong too
    n_known, n_unknown : users with a value of the metric
    """

    position: int
    difference: float
    low: float
    high: float
    n_known: int
    n_unknown: int


def unknown_bounds(
    metric: int, findings: Sequence[int], measured: Measured, grouping: Grouping
) -> tuple[UnknownBounds, ...]:
    """Bounds of the groups of one attribute and of the findings to which unknown users may belong.

    The largest harm first, for its size. Nothing after a search, where most users are unknown in
    another sense.

    Parameters
    ----------
    metric : position among those measured
    findings : positions in the lattice
    """
    unknown_codes = [
        attribute.values.index(MISSING) if MISSING in attribute.values else ANY
        for attribute in grouping.attributes
    ]
    if not measured.is_complete or max(unknown_codes) == ANY:
        return ()
    column = measured.term(metric)
    centred = np.where(column.n > 0, column.values - column.mean, 0.0)
    cells, n_all = grouping.cells, int(column.n_users)
    n_per_cell, total_per_cell = cells.sums(column.n), cells.sums(centred * column.n)
    size_per_cell = cells.sums(column.size)
    level = None if measured.alike is None else measured.alike.level[metric]
    joined_of: dict[bytes, Joined] = {}
    found = []
    for position in _groups_told(findings, unknown_codes, grouping):
        codes = grouping.lattice.codes[position]
        is_known = members(codes, cells)
        may_belong = _may_belong(codes, unknown_codes, grouping) & ~is_known
        n_known, n_unknown = int(n_per_cell[is_known].sum()), int(n_per_cell[may_belong].sum())
        size = float(size_per_cell[is_known].sum())
        if n_unknown == 0 or n_known < grouping.min_users or not 0 < size < n_all:
            continue
        # all groups of one attribute share the users for whom it is unknown
        key = may_belong.tobytes()
        if key not in joined_of:
            rows = may_belong[cells.of_user] & (column.n > 0)
            joined_of[key] = (
                joining_sums(centred[rows], column.size[rows].astype(np.float64))
                if level is None
                else joining_levels(
                    centred[rows],
                    column.n[rows].astype(np.float64),
                    column.inner[rows],
                    level[rows],
                )
            )
        total = float(total_per_cell[is_known].sum())
        low, high = difference_bounds(total, size, n_all, joined_of[key])
        difference = total * (1 / size + 1 / (n_all - size))
        found.append(UnknownBounds(position, difference, low, high, n_known, n_unknown))
    better = measured.metrics[metric].metric.higher_is_better

    def strength(one: UnknownBounds) -> float:
        return harm(one.difference, better) * math.sqrt(one.n_known * (1 - one.n_known / n_all))

    return tuple(sorted(found, key=strength, reverse=True))


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


def joining_sums(unknown: FloatArray, size: FloatArray) -> Joined:
    """Of the 0, 1, 2 ... lowest values, and of the highest.

    Parameters
    ----------
    unknown : (n_unknown,), what each adds to a sum, around the mean of all
    size : (n_unknown,), what each adds to what the sum is divided by; 1 for a user
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ascending = np.argsort(unknown / size, kind="stable")
    both = np.stack([ascending, ascending[::-1]])
    n, total = (
        np.concatenate([np.zeros((2, 1)), np.cumsum(of[both], axis=1)], axis=1)
        for of in (size, unknown)
    )
    return Joined(n, total)


_STEPS = 64
"""Sizes looked at within a level; a difference changes little between two of them."""


def joining_levels(value: FloatArray, n: FloatArray, inner: FloatArray, level: IntArray) -> Joined:
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
    total: float, n_known: float, n_all: int, joined: Joined
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


def _groups_told(
    findings: Sequence[int], unknown_codes: Sequence[int], grouping: Grouping
) -> list[int]:
    """The groups of one attribute that has unknown values, and the findings; once each."""
    lattice = grouping.lattice
    is_single = lattice.depth == 1
    told: list[int] = []
    for attribute, unknown in enumerate(unknown_codes):
        if unknown != ANY:
            groups = np.flatnonzero(is_single & (lattice.codes[:, attribute] != ANY))
            largest = groups[np.argsort(-lattice.n_users[groups], kind="stable")]
            told += [int(group) for group in largest[:GROUPS_TOLD]]
    told += [group for group in findings if group not in told]
    # nobody can turn out to be a user whose value is unknown
    is_unknown = (lattice.codes[told] == unknown_codes) & (lattice.codes[told] != ANY)
    return [told[at] for at in np.flatnonzero(~is_unknown.any(axis=1))]


def _may_belong(codes: CodeArray, unknown_codes: Sequence[int], grouping: Grouping) -> BoolArray:
    """(n_cells,), which cells meet every condition that is known of them."""
    cells = grouping.cells
    may = np.ones(len(cells), dtype=bool)
    for attribute, code in enumerate(codes):
        if code != ANY:
            of_cell = cells.codes[attribute]
            is_unknown = (of_cell == unknown_codes[attribute]) & (unknown_codes[attribute] != ANY)
            may &= (of_cell == code) | is_unknown
    return may
