"""What makes the difference of a finding: its combination of conditions, or a covariate.

Men of 56 and over may be served as well as everybody, and women too, and only women of 56 and
over badly. A group is therefore set beside its neighbours: the users who meet exactly some of its
conditions, from one alone to none. And a group may differ from all others in a covariate on
which the metric depends, such as the length of a history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, Field
from scipy.special import ndtri

from fairrec.core.arrays import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, finite_or_none
from fairrec.groups.cells import Cells
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import ANY, members
from fairrec.inputs.users import Value
from fairrec.metrics.measured import Measured
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.strata import shrink_variance

CarriedBy = Literal["the combination", "each condition by itself", "not certain which"]

MAX_CONDITIONS = 6
"""A reader takes in a table of eight rows: the group, each condition alone, and none of them."""
_ALL_SHOWN = 3
"""Up to so many conditions, all neighbours fit into it."""
BEYOND = 1.96
"""Standard errors from which an effect is taken for real."""
NEIGHBOUR_PRIOR_USERS = 4
"""Weight, in users, of the spread among all users in the spread of a neighbour.

More than in intervals, because a neighbour is often far smaller than the group it stands beside.
"""
_MARGIN = 0.6
"""Standard errors by which what the conditions make alone must exceed half of the difference.

Without it every eleventh group of which three quarters are the combination was told otherwise.
"""


class Neighbour(BaseModel, frozen=True, extra="forbid"):
    """The users who meet exactly some conditions of a finding."""

    is_met: dict[str, bool] = Field(description="attribute -> whether they have its value")
    n_users: int = Field(description="with a value; all of them where not all are scored")
    value: float | None = Field(
        description="mean; null for fewer users than the smallest group, or not all of them scored"
    )
    error: float | None = Field(description="standard error of the mean")


class Interaction(BaseModel, frozen=True, extra="forbid"):
    """A finding of several conditions beside its neighbours, and what carries its difference."""

    carried_by: CarriedBy = Field(
        description="the combination: the conditions alone do not add up to most of the distance "
        "from users who meet none of them; each condition by itself: they do"
    )
    alone: tuple[str, ...] = Field(
        description="attributes whose condition makes a difference of the same sign by itself"
    )
    excess: float | None = Field(
        description="distance of the finding from users who meet no condition, minus what the "
        "conditions make alone, added up; null where one of them is not known"
    )
    error: float | None = Field(description="standard error of the excess")
    neighbours: tuple[Neighbour, ...] = Field(
        description="the finding itself first, users who meet no condition last; of more than "
        "three conditions each alone, without those in between"
    )


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
    sums = _CellSums.from_column(metric, measured, grouping.cells)
    return [
        _interaction(row, sums, grouping) if told else None
        for row, told in zip(codes, is_told, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _CellSums:
    """Sums over each cell, of values centred on the mean of all.

    Parameters
    ----------
    mean, variance : of all users
    rows : (5, n_cells), users with a value, users not scored, what a sum is divided by to give a
        mean, sums and sums of squares
    """

    mean: float
    variance: float
    rows: FloatArray

    @classmethod
    def from_column(cls, metric: int, measured: Measured, cells: Cells) -> _CellSums:
        column = measured.term(metric)
        of_all = column._replace(n=column.n * measured.is_reference)
        centred = np.where(column.n > 0, column.values - of_all.mean, 0.0)
        squares = centred**2 * column.n + column.inner
        sd = float(np.sqrt((squares @ measured.is_reference) / max(1.0, of_all.n_users - 1)))
        rows = column.n, ~measured.is_scored, column.size, centred * column.n, squares
        return cls(of_all.mean, sd**2, np.stack([cells.sums(row) for row in rows]))


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
    def from_cells(cls, met: CodeArray, n: int, sums: _CellSums, min_users: int) -> _Neighbours:
        """Of `n` neighbours, where `met` is the one each cell belongs to."""
        n_defined, n_not_scored, size, total, squares = (
            np.bincount(met, weights=row, minlength=n).astype(np.float64, copy=False)
            for row in sums.rows
        )
        counted = np.maximum(n_defined, 1)
        mean = total / counted
        around_mean = np.maximum(squares - n_defined * mean**2, 0)
        variance = shrink_variance(around_mean, n_defined, sums.variance, NEIGHBOUR_PRIOR_USERS)
        per_size = np.divide(n_defined, size, out=np.zeros(n), where=size > 0)
        return cls(
            n_defined + n_not_scored,
            mean * per_size,
            variance / counted * per_size**2,
            # the mean of very few users is noise, and tells what happened to one of them
            (n_defined >= min_users) & (n_not_scored == 0),
        )

    def contrast(self, weights: FloatArray) -> tuple[float, float]:
        """A weighted sum of values, and its standard error."""
        return float(weights @ self.value), float(np.sqrt(weights**2 @ self.variance))


def _interaction(codes: CodeArray, sums: _CellSums, grouping: Grouping) -> Interaction | None:
    attributes = np.flatnonzero(codes != ANY)
    k = len(attributes)
    met = np.zeros(len(grouping.cells), dtype=np.int32)
    for i, attribute in enumerate(attributes):
        met |= (grouping.cells.codes[attribute] == codes[attribute]).astype(np.int32) << i
    found = _Neighbours.from_cells(met, 1 << k, sums, grouping.min_users)
    group = (1 << k) - 1
    if not found.is_known[group]:
        return None
    carried_by, alone, excess = _carried_by(found, k)
    size, error = excess or (None, None)
    is_shown = {group, 0, *(1 << i for i in range(k))} if k > _ALL_SHOWN else {*range(1 << k)}
    # who meets most conditions first, of as many the first ones
    order = sorted(is_shown, key=lambda at: (-at.bit_count(), [not at >> i & 1 for i in range(k)]))
    names = [grouping.attributes[attribute].name for attribute in attributes]
    return Interaction(
        carried_by=carried_by,
        alone=tuple(names[i] for i in alone),
        excess=size,
        error=error,
        neighbours=tuple(
            Neighbour(
                is_met={name: bool(at >> i & 1) for i, name in enumerate(names)},
                n_users=int(found.n_users[at]),
                value=sums.mean + float(found.value[at]) if found.is_known[at] else None,
                error=float(np.sqrt(found.variance[at])) if found.is_known[at] else None,
            )
            for at in order
        ),
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


LOOKED_AT = 10
"""Findings of a metric, worst first."""
LEAST_SHARE = 0.2
"""Of a difference; what makes less of it is not told."""
LEVEL = 0.02
"""Probability that anything is told where no covariate makes a difference."""
MOST_DRAWN = 2000
"""Users of a group, and as many others, whose lists are looked at in random order."""

AtRandom = Callable[[IntArray], FloatArray]
"""Users -> (n_metrics, n_users), their values if their lists were in random order."""


@dataclass(frozen=True, slots=True)
class BinnedCovariate:
    """A covariate of all users.

    Parameters
    ----------
    numbers, codes : (n_users,), as it is and in bins
    is_of_lists : whether lists in random order would show what it makes
    """

    name: str
    numbers: AnyArray
    codes: CodeArray
    n_values: int
    is_of_lists: bool


class Confounder(BaseModel, frozen=True, extra="forbid"):
    """A covariate, not given, that makes a part of the difference of a finding."""

    metric: str
    group: dict[str, Value]
    covariate: str
    mean: float = Field(description="of the covariate in the group")
    mean_of_others: float
    difference: float = Field(description="that of the finding")
    explains: float | None = Field(
        description="the part of the difference that it makes, from how the metric depends on it "
        "among all others; null where too few others are in the covariates of the group"
    )
    at_random: tuple[float, float] | None = Field(
        description="then the metric in the group and among all others if their lists were in "
        "random order; null where that says nothing"
    )


def find_confounders(
    analysis: Analysis,
    findings: Sequence[Sequence[int]],
    covariates: Sequence[BinnedCovariate],
    at_random: AtRandom | None = None,
) -> tuple[Confounder, ...]:
    """The covariates that make a part of the differences found.

    What a covariate makes of a difference is the mean of the others' values in the group's
    covariates minus that in their own (Kitagawa's decomposition). It is told where it is beyond
    chance both in the values and in who is in which covariates, and not negligible.

    Parameters
    ----------
    findings : for each metric, positions of groups in the lattice
    at_random : None where lists in random order show nothing
    """
    looked_at = [(i, g) for i, groups in enumerate(findings) for g in groups[:LOOKED_AT]]
    critical = float(ndtri(1 - LEVEL / (2 * max(1, len(looked_at) * len(covariates)))))
    found, cells, moments = [], analysis.grouping.cells, analysis.moments
    for covariate in covariates:
        at = covariate.codes.astype(np.int64) * len(cells) + cells.of_user
        tables = {i: _Table.of(i, covariate, at, analysis) for i in {i for i, _ in looked_at}}
        for i, group in looked_at:
            is_member = members(analysis.grouping.lattice.codes[group], cells)
            difference = float(moments.difference[i, group])
            explains, means = tables[i].difference_made(is_member, critical), None
            part = explains
            if explains is None and at_random is not None and covariate.is_of_lists:
                part, means = _made_at_random(i, is_member, analysis, at_random, critical)
            is_told = part is None or (
                part * difference > 0 and abs(part) >= LEAST_SHARE * abs(difference)
            )
            if is_told and np.isfinite(difference):
                here, elsewhere = tables[i].means(is_member)
                found.append(
                    Confounder(
                        metric=analysis.measured.metrics[i].name,
                        group=analysis.grouping.group(group).as_dict(),
                        covariate=covariate.name,
                        mean=here,
                        mean_of_others=elsewhere,
                        difference=difference,
                        explains=explains,
                        at_random=means,
                    )
                )
    return tuple(found)


class _Table(NamedTuple):
    """Sums over the users with a value, by bin of a covariate and by cell.

    Parameters
    ----------
    n, total : (n_bins, n_cells)
    squares, of_numbers : (n_cells,), of the values, and sums of the covariate
    """

    n: FloatArray
    total: FloatArray
    squares: FloatArray
    of_numbers: FloatArray

    @classmethod
    def of(cls, i: int, covariate: BinnedCovariate, at: IntArray, analysis: Analysis) -> _Table:
        """Of one metric, where `at` is the bin and cell of each user."""
        cells, moments = analysis.grouping.cells, analysis.moments
        is_defined, values = moments.n_per_row[i], moments.centred_per_row[i]
        shape = (covariate.n_values, len(cells))
        n, total = (
            np.bincount(at, row, shape[0] * shape[1]).reshape(shape).astype(np.float64)
            for row in (is_defined, values)
        )
        of_numbers = cells.sums(covariate.numbers * is_defined)
        return cls(n, total, cells.sums(values**2), of_numbers)

    def means(self, is_member: BoolArray) -> list[float]:
        """Of the covariate, in a group and elsewhere."""
        n = self.n.sum(axis=0)
        return [
            float(self.of_numbers[cells].sum() / max(1, n[cells].sum()))
            for cells in (is_member, ~is_member)
        ]

    def difference_made(self, is_member: BoolArray, critical: float) -> float | None:
        """The difference that the covariate makes, 0 where it may be chance.

        None where less than half of the group has others in its covariates.
        """
        n_here, n_others = self.n[:, is_member].sum(axis=1), self.n[:, ~is_member].sum(axis=1)
        has_others = n_others > 0
        n_kept = n_here[has_others].sum()
        if 2 * n_kept < n_here.sum() or not n_kept:
            return None
        n_here, n_others = n_here[has_others], n_others[has_others]
        mean = self.total[:, ~is_member].sum(axis=1)[has_others] / n_others
        share_here, share_others = n_here / n_kept, n_others / n_others.sum()
        at_here, at_others = share_here @ mean, share_others @ mean
        part = float(at_here - at_others)
        within = self.squares[~is_member].sum() - (n_others * mean**2).sum()
        variance = max(within, 0.0) / max(1.0, n_others.sum() - len(mean))
        by_values = np.sqrt(variance * ((share_here - share_others) ** 2 / n_others).sum())
        by_users = np.sqrt(
            share_here @ (mean - at_here) ** 2 / n_kept
            + share_others @ (mean - at_others) ** 2 / n_others.sum()
        )
        return part if abs(part) > critical * max(by_values, by_users) else 0.0


def _made_at_random(
    i: int, is_member: BoolArray, analysis: Analysis, at_random: AtRandom, critical: float
) -> tuple[float | None, tuple[float, float] | None]:
    """The difference were lists in random order, 0 where it may be chance, and both means.

    Of some users of the group and of some others; None where too few of them have a value.
    """
    rng = np.random.default_rng([analysis.options.seed, i])
    is_in = is_member[analysis.grouping.cells.of_user]
    is_defined = analysis.moments.n_per_row[i] > 0
    both = []
    for side in (is_in, ~is_in):
        users = np.flatnonzero(side & is_defined)
        if len(users) > MOST_DRAWN:
            users = np.sort(rng.choice(users, MOST_DRAWN, replace=False))
        values = at_random(users)[i]
        both.append(values[~np.isnan(values)])
    if min(map(len, both)) < 2:
        return None, None
    here, elsewhere = (float(values.mean()) for values in both)
    error = np.sqrt(sum(values.var(ddof=1) / len(values) for values in both))
    part = here - elsewhere
    return part if abs(part) > critical * error else 0.0, (here, elsewhere)


class NoLongerFound(BaseModel, frozen=True, extra="forbid"):
    """A group that differs by more than chance, and not among users with equal covariates."""

    metric: str
    group: dict[str, Value]
    n_users: int = Field(description="with a value")
    raw_difference: float = Field(description="unadjusted")
    difference: float | None = Field(
        description="among users with equal covariates; null where nobody else is in those of "
        "the group"
    )
    kept_share: float = Field(description="users of the group in strata with others")


def confounded_findings(
    listed: Sequence[Sequence[int]], adjusted: Analysis
) -> tuple[NoLongerFound, ...]:
    """The findings that are not beyond chance within strata.

    Parameters
    ----------
    listed : positions in the lattice of what is found without strata, for each metric
    """
    estimates = adjusted.estimates
    return tuple(
        NoLongerFound(
            metric=adjusted.measured.metrics[i].name,
            group=adjusted.grouping.group(at).as_dict(),
            n_users=int(adjusted.moments.n[i, at]),
            raw_difference=float(estimates.raw_difference[i, at]),
            difference=finite_or_none(estimates.difference[i, at]),
            kept_share=float(adjusted.kept_share[i, at]),
        )
        for i, groups in enumerate(listed)
        for at in groups
        if not adjusted.is_beyond_chance[i, at]
    )
