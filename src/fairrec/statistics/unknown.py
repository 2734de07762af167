"""What a group's difference could be if unknown values of attributes were known.

Users without a value form a group of their own, `(missing)`. Whoever they truly are, some of them
may belong to other groups; the bounds hold over every way to fill in what is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray
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
    values = measured.values[metric]
    is_defined = ~np.isnan(values)
    centred = np.where(is_defined, values - values[is_defined].mean(), 0.0)
    cells, n_all = grouping.cells, int(is_defined.sum())
    n_per_cell, total_per_cell = cells.sums(is_defined), cells.sums(centred)
    joined_of: dict[bytes, FloatArray] = {}
    found = []
    for position in _groups_told(findings, unknown_codes, grouping):
        codes = grouping.lattice.codes[position]
        is_known = members(codes, cells)
        may_belong = _may_belong(codes, unknown_codes, grouping) & ~is_known
        n_known, n_unknown = int(n_per_cell[is_known].sum()), int(n_per_cell[may_belong].sum())
        if n_unknown == 0 or n_known < grouping.min_users or n_known == n_all:
            continue
        # all groups of one attribute share the users for whom it is unknown
        key = may_belong.tobytes()
        if key not in joined_of:
            joined_of[key] = joining_sums(centred[may_belong[cells.of_user] & is_defined])
        total = float(total_per_cell[is_known].sum())
        low, high = difference_bounds(total, n_known, n_all, joined_of[key])
        difference = total / n_known + total / (n_all - n_known)
        found.append(UnknownBounds(position, difference, low, high, n_known, n_unknown))
    better = measured.metrics[metric].metric.higher_is_better

    def strength(one: UnknownBounds) -> float:
        return harm(one.difference, better) * math.sqrt(one.n_known * (1 - one.n_known / n_all))

    return tuple(sorted(found, key=strength, reverse=True))


def joining_sums(unknown: FloatArray) -> FloatArray:
    """(2, n_unknown + 1), sums of the 0, 1, 2 ... lowest values, and of the highest."""
    ascending = np.sort(unknown)
    both = np.stack([ascending, ascending[::-1]])
    return np.concatenate([np.zeros((2, 1)), np.cumsum(both, axis=1)], axis=1)


def difference_bounds(
    total: float, n_known: int, n_all: int, joined: FloatArray
) -> tuple[float, float]:
    """The smallest and the largest difference between a group and all others.

    Of all subsets of one size, that of the largest values has the largest difference; so as many
    subsets as there are sizes hold the extremes.

    Parameters
    ----------
    total : sum over the `n_known` users who belong for sure
    n_all : all users, whose values add up to 0
    joined : sums over those who may belong too, see `joining_sums`
    """
    # a group of everybody has nobody to be compared with
    n_sizes = min(joined.shape[1], n_all - n_known)
    n = n_known + np.arange(n_sizes, dtype=np.float64)
    lowest, highest = (total + joined[:, :n_sizes]) * (1 / n + 1 / (n_all - n))
    return float(lowest.min()), float(highest.max())


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
