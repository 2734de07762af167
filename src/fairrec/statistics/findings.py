"""Findings: groups that stand out by themselves, and whether by their combination of conditions.

Men of 56 and over may be served as well as everybody, and women too, and only women of 56 and
over badly. A group is therefore set beside its neighbours: the users who meet exactly some of its
conditions, from one alone to none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.groups.cells import Cells
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import ANY, members
from fairrec.metrics.direction import harm
from fairrec.metrics.measured import Measured
from fairrec.statistics.moments import Moments
from fairrec.statistics.simultaneous import DOWN, UP
from fairrec.statistics.strata import moderated

CarriedBy = Literal["the combination", "each condition by itself", "not certain which"]

MAX_CONDITIONS = 6
"""A reader takes in a table of eight rows: the group, each condition alone, and none of them."""
_ALL_SHOWN = 3
"""Up to so many conditions, all neighbours fit into it."""
BEYOND = 1.96
"""Standard errors from which an effect is taken for real."""
PRIOR_USERS = 4
"""Weight, in users, of the spread among all users in the spread of a neighbour.

More than in intervals, because a neighbour is often far smaller than the group it stands beside.
"""
_MARGIN = 0.6
"""Standard errors by which what the conditions make alone must exceed half of the difference.

Without it every eleventh group of which three quarters are the combination was told otherwise.
"""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The users who meet exactly some conditions of a group.

    Parameters
    ----------
    is_met : one a condition
    n_users : with a value; all of them where not all are scored
    value, error : mean and its standard error; None for too few users, or not all scored
    """

    is_met: tuple[bool, ...]
    n_users: int
    value: float | None
    error: float | None


@dataclass(frozen=True, slots=True)
class Interaction:
    """A group beside its neighbours, and what carries its difference.

    Parameters
    ----------
    attributes : positions of those that the group has conditions on
    alone : those of them whose condition makes a difference of the same sign by itself
    excess, error : how much the group's distance from the users who meet no condition exceeds what
        the conditions make alone, added up, and its standard error; None where one is not known
    neighbours : the group itself first, who meets no condition last
    """

    carried_by: CarriedBy
    attributes: tuple[int, ...]
    alone: tuple[int, ...]
    excess: float | None
    error: float | None
    neighbours: tuple[Neighbour, ...]


def interactions(
    metric: int, groups: Sequence[int], measured: Measured, grouping: Grouping
) -> list[Interaction | None]:
    """What carries the difference of each of these groups.

    None for a group of one condition or of more than MAX_CONDITIONS, and for one that a search has
    not fully scored.

    Parameters
    ----------
    metric : position among those measured
    groups : positions in the lattice
    """
    codes = grouping.lattice.codes[list(groups)]
    n_conditions = grouping.lattice.depth[list(groups)]
    is_told = (n_conditions > 1) & (n_conditions <= MAX_CONDITIONS)
    if not is_told.any():
        return [None] * len(groups)
    sums = _CellSums.of(metric, measured, grouping.cells)
    return [
        _interaction(row, sums, grouping) if told else None
        for row, told in zip(codes, is_told, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _CellSums:
    """Number, sum and sum of squares over each cell, of values centred on the mean of all.

    Parameters
    ----------
    size : what a sum is divided by to give a mean
    """

    mean: float
    sd: float
    n: FloatArray
    size: FloatArray
    total: FloatArray
    squares: FloatArray
    n_not_scored: FloatArray

    @classmethod
    def of(cls, metric: int, measured: Measured, cells: Cells) -> _CellSums:
        column = measured.term(metric)
        of_all = column._replace(n=column.n * measured.is_reference)
        centred = np.where(column.n > 0, column.values - of_all.mean, 0.0)
        squares = centred**2 * column.n + column.inner
        n_reference = of_all.n_users
        return cls(
            of_all.mean,
            float(np.sqrt((squares @ measured.is_reference) / max(1.0, n_reference - 1))),
            cells.sums(column.n),
            cells.sums(column.size),
            cells.sums(centred * column.n),
            cells.sums(squares),
            cells.sums(~measured.is_scored),
        )


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """All neighbours of a group; bit i of a position says whether condition i is met.

    Parameters
    ----------
    value : centred on the mean of all users
    variance : of that mean
    """

    n_users: FloatArray
    value: FloatArray
    variance: FloatArray
    is_known: BoolArray

    @classmethod
    def of(cls, met: CodeArray, n: int, sums: _CellSums, min_users: int) -> _Neighbours:
        """Of `n` neighbours, where `met` is the one each cell belongs to."""

        def total(per_cell: FloatArray) -> FloatArray:
            return np.bincount(met, weights=per_cell, minlength=n).astype(np.float64, copy=False)

        n_defined, n_not_scored = total(sums.n), total(sums.n_not_scored)
        mean = total(sums.total) / np.maximum(n_defined, 1)
        squares = np.maximum(total(sums.squares) - n_defined * mean**2, 0)
        variance = moderated(squares, n_defined, sums.sd**2, PRIOR_USERS)
        size = total(sums.size)
        per_size = np.divide(n_defined, size, out=np.zeros(n), where=size > 0)
        return cls(
            n_defined + n_not_scored,
            mean * per_size,
            variance / np.maximum(n_defined, 1) * per_size**2,
            # the mean of very few users is noise, and tells what happened to one of them
            (n_defined >= min_users) & (n_not_scored == 0),
        )

    def contrast(self, weights: FloatArray) -> tuple[float, float]:
        """A weighted sum of values, and its standard error."""
        return float(weights @ self.value), float(np.sqrt(weights**2 @ self.variance))

    def shown(self, at: int, n_conditions: int, mean: float) -> Neighbour:
        """One of them, by itself."""
        is_known = bool(self.is_known[at])
        return Neighbour(
            tuple(bool(at >> i & 1) for i in range(n_conditions)),
            int(self.n_users[at]),
            mean + float(self.value[at]) if is_known else None,
            float(np.sqrt(self.variance[at])) if is_known else None,
        )


def _interaction(codes: CodeArray, sums: _CellSums, grouping: Grouping) -> Interaction | None:
    attributes = np.flatnonzero(codes != ANY)
    k = len(attributes)
    met = np.zeros(len(grouping.cells), dtype=np.int32)
    for i, attribute in enumerate(attributes):
        met |= (grouping.cells.codes[attribute] == codes[attribute]).astype(np.int32) << i
    found = _Neighbours.of(met, 1 << k, sums, grouping.min_users)
    group = (1 << k) - 1
    if not found.is_known[group]:
        return None
    carried_by, alone, excess = _carried_by(found, k)
    size, error = excess or (None, None)
    is_shown = {group, 0, *(1 << i for i in range(k))}
    if k <= _ALL_SHOWN:
        is_shown = {*range(1 << k)}
    # who meets most conditions first, of as many the first ones
    order = sorted(is_shown, key=lambda at: (-at.bit_count(), [not at >> i & 1 for i in range(k)]))
    return Interaction(
        carried_by,
        tuple(int(attribute) for attribute in attributes),
        tuple(int(attributes[i]) for i in alone),
        size,
        error,
        tuple(found.shown(at, k, sums.mean) for at in order),
    )


def _carried_by(
    found: _Neighbours, k: int
) -> tuple[CarriedBy, list[int], tuple[float, float] | None]:
    """The verdict, the conditions that make a difference alone, and the excess with its error.

    All distances are from the users who meet no condition. The combination carries the difference
    where what the conditions make alone does not add up to it, and the excess is most of it; they
    carry it each by itself where that is most of it, surely. Where a neighbour is not known, only
    the latter can be told.
    """
    each = np.eye(1 << k)
    together = each[-1] - each[0]
    by_itself = {i: each[1 << i] - each[0] for i in range(k) if found.is_known[1 << i]}
    if not found.is_known[0] or not by_itself:
        return "not certain which", [], None
    # the users who meet no condition may differ from all others more than the group does
    sign = -1.0 if found.value[-1] < 0 else 1.0

    def is_beyond(weights: FloatArray, errors: float = BEYOND) -> bool:
        value, error = found.contrast(sign * weights)
        return value > errors * error

    alone = [i for i, weights in by_itself.items() if is_beyond(weights)]
    added_up = np.sum([*by_itself.values()], axis=0)
    excess = found.contrast(together - added_up) if len(by_itself) == k else None
    if excess and is_beyond(together - added_up) and is_beyond(together / 2 - added_up, 0):
        return "the combination", alone, excess
    # a condition that makes nothing alone adds noise, unless two of them make a little each
    sure = np.sum([by_itself[i] for i in alone], axis=0)
    for part in (sure, added_up) if alone else ():
        if is_beyond(part) and is_beyond(part - together / 2, _MARGIN):
            return "each condition by itself", alone, excess
    return "not certain which", alone, excess


MAX_FINDINGS = 200
"""Findings listed for a metric; each costs a pass over the lattice to set aside."""
WINDOW = 1.0
"""Scores by which a group at the worse end may stand out less and still come first."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The groups to report, strongest first, and how many each one explains.

    Parameters
    ----------
    groups : positions in the lattice
    n_folded : significant groups that no longer stand out once this one is set aside
    because_of : for a group that is worse off only because another is served better, that other one
    n_left : significant groups left over when the list was full
    """

    groups: list[int]
    n_folded: list[int]
    because_of: list[int | None]
    n_left: int


def select_findings(
    metric: int,
    is_significant: BoolArray,
    critical: FloatArray,
    higher_is_better: bool | None,
    moments: Moments,
    grouping: Grouping,
    threads: int = 1,
    error: FloatArray | None = None,
) -> Selection:
    """Take the strongest group, set its difference aside, keep what still stands out; repeat.

    Women under 25 are no second finding when all women are served alike, and women are none
    when only those under 25 are worse off: in both cases one group explains the other. But where
    somebody is worse off it is always said who, also if a group that is served better explains it.

    Parameters
    ----------
    is_significant : (n_groups,), adjusted p-value at most alpha
    critical : (2,) or (2, n_groups), score up and down that a group must keep to be listed
    higher_is_better : the worse end comes first where it stands out about as far, such as the
        worse of the two values of an attribute
    error : (n_groups,), of the differences, in which scores are; None for the chance error
    """
    cells, lattice = grouping.cells, grouping.lattice
    # a group in a sample stands for all its users
    n_per_row = moments.size_per_row[metric]
    n, to_total = moments.size[metric], moments.weights.total[metric]
    if moments.sample is not None:
        n_per_row = np.ones(len(cells.of_user), dtype=bool)
        n = lattice.n_users.astype(np.float64)
        to_total = n * np.maximum(len(n_per_row) - n, 0) / len(n_per_row)
    n_per_cell = cells.sums(n_per_row)
    with np.errstate(invalid="ignore"):
        scale = np.nan_to_num((moments.chance_error[metric] if error is None else error) * to_total)
        residual = np.nan_to_num(moments.difference[metric] * to_total)
    sign = np.sign(residual)
    at_first = np.divide(residual, scale, out=np.zeros_like(residual), where=scale > 0)
    least = np.where(sign > 0, critical[UP], critical[DOWN])
    depth = lattice.depth
    open_groups = np.flatnonzero(is_significant & (scale > 0))
    chosen: list[int] = []
    n_folded: list[int] = []
    folded_into = np.full(len(n), -1)
    while len(open_groups) and len(chosen) < MAX_FINDINGS:
        score = residual[open_groups] / scale[open_groups]
        is_better_end = harm(score, higher_is_better) <= 0
        # two ends of one difference stand out alike, and luck decides which does more
        reach = np.abs(score) + np.where(is_better_end, 0.0, WINDOW)
        # ties: the worse end, the fewer conditions, the smaller group
        order = np.lexsort(
            (
                open_groups,
                n[open_groups],
                depth[open_groups],
                is_better_end,
                -np.round(reach, 9),
            )
        )
        best = int(open_groups[order[0]])
        few = int(grouping.complement[best])
        if grouping.is_rest[best] and few in open_groups:
            # one difference, of which the few are named
            best = few
        chosen.append(best)
        is_member = members(lattice.codes[best], cells)
        overlap = lattice.sums((n_per_cell * is_member)[None], threads)[0]
        # lift the group to the mean of all others, then centre again within strata
        lift = -residual[best] / to_total[best]
        residual += lift * (overlap - _expected(is_member, n, best, n_per_row, moments, grouping))
        kept = np.abs(residual[open_groups] / scale[open_groups]) >= least[open_groups]
        # what now stands out the other way would be listed with a difference that misleads
        kept &= np.sign(residual[open_groups]) == sign[open_groups]
        kept &= open_groups != best
        n_folded.append(int(len(open_groups) - kept.sum() - 1))
        folded_into[open_groups[~kept]] = best
        open_groups = open_groups[kept]
    because_of: list[int | None] = [None] * len(chosen)
    hidden = _worst_of_folded(at_first, folded_into, chosen, higher_is_better, depth)
    if hidden is not None:
        explains = int(folded_into[hidden])
        n_folded[chosen.index(explains)] -= 1
        chosen, n_folded, because_of = [*chosen, hidden], [*n_folded, 0], [*because_of, explains]
    return Selection(chosen, n_folded, because_of, len(open_groups))


def _worst_of_folded(
    score: FloatArray,
    folded_into: IntArray,
    chosen: list[int],
    higher_is_better: bool | None,
    depth: IntArray,
) -> int | None:
    """The group at the worse end that stands out most, where none of those chosen is there."""
    if higher_is_better is None:
        return None
    harms = harm(score, higher_is_better)
    candidates = np.flatnonzero((folded_into >= 0) & (harms > 0))
    if not len(candidates) or (harms[chosen] > 0).any():
        return None
    # ties: the fewer conditions
    order = np.lexsort((candidates, depth[candidates], -np.round(harms[candidates], 9)))
    return int(candidates[order[0]])


def _expected(
    is_member: BoolArray,
    n: FloatArray,
    group: int,
    n_per_row: BoolArray | FloatArray,
    moments: Moments,
    grouping: Grouping,
) -> FloatArray:
    """(n_groups,), the users each group would share with one if its users were drawn at random.

    At random within strata: as many as it has there, by the share of each that is in the one.
    """
    cells, strata = grouping.cells, moments.strata
    if strata.n_strata == 1:
        return np.asarray(n * (n[group] / n_per_row.sum()))
    in_group = strata.sums(n_per_row * is_member[cells.of_user])
    share = in_group / np.maximum(strata.sums(n_per_row), 1)
    per_cell = cells.sums(share[strata.of_user] * n_per_row)
    return np.asarray(grouping.lattice.sums(per_cell[None])[0])
