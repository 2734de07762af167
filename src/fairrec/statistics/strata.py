"""Strata: a group is compared with all others among users with equal covariates.

Strata are weighted as by Mantel and Haenszel. So both sides have a mean over strata with the same
weights, and its error follows from the spread of each side within each stratum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.groups.cells import number_combinations
from fairrec.groups.grouping import Grouping

PRIOR_USERS = 1.0
"""Weight, in users, of the spread among all users in the spread of one group.

Six users without a hit have no spread of their own, yet their mean is far from certain.
"""


def shrink_variance(squares: FloatArray, n: FloatArray, variance: float) -> FloatArray:
    """The variance of `n` users from squares around their mean, drawn to that of all users."""
    return np.asarray((squares + PRIOR_USERS * variance) / (np.maximum(n - 1, 0.0) + PRIOR_USERS))


@dataclass(frozen=True, slots=True)
class Strata:
    """The stratum of each user, or of all users of a row."""

    of_user: CodeArray
    n_strata: int

    @classmethod
    def from_codes(cls, codes: Sequence[CodeArray], n_values: Sequence[int]) -> Strata:
        """Every combination that occurs of some covariates."""
        first, of_user = number_combinations(codes, n_values)
        return cls(of_user, len(first))

    @property
    def rows(self) -> list[IntArray]:
        """The rows of each stratum."""
        order = np.argsort(self.of_user, kind="stable")
        bounds = np.cumsum(np.bincount(self.of_user, minlength=self.n_strata))
        return np.split(order, bounds[:-1])

    def sums(self, per_row: FloatArray | BoolArray) -> FloatArray:
        """(n_strata,), sums over the rows of each stratum."""
        totals = np.bincount(self.of_user, weights=per_row, minlength=self.n_strata)
        return totals.astype(np.float64, copy=False)

    def means(self, per_row: FloatArray, n: BoolArray | FloatArray) -> FloatArray:
        """(n_strata,), means over the users of rows, `n` each; 0 where there are none."""
        total = self.sums(np.where(n > 0, per_row * n, 0.0))
        return total / np.maximum(self.sums(n), 1)


def one_stratum(n_rows: int) -> Strata:
    """All users in one stratum, without adjustment."""
    return Strata(np.zeros(n_rows, dtype=np.int32), 1)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of users in a difference; (n_metrics, n_groups) each.

    Parameters
    ----------
    total : divisor of a centred sum that gives the difference: n * (N - n) / N, summed over strata
    null_variance : variance of the centred sum over permutations
    own, others : multipliers of the variance of a value in the group and among all others; 1/n and
        1/(N - n) in one stratum
    n_kept : users of the group that the difference represents: where they are spread over strata
        otherwise than the weights, only those that both have in common
    """

    total: FloatArray
    null_variance: FloatArray
    own: FloatArray
    others: FloatArray
    n_kept: FloatArray


class StratifiedSide(NamedTuple):
    """A group or all others, standardised; (n_metrics, n_groups) each.

    Parameters
    ----------
    value : mean over strata
    error2 : variance of that mean by the spread within this side
    like_all : the same if within each stratum it had the spread of all users
    freedom : degrees of freedom of `error2` (Satterthwaite)
    """

    value: FloatArray
    error2: FloatArray
    like_all: FloatArray
    freedom: FloatArray


def _add_stratum(
    sums: FloatArray,
    weight: FloatArray,
    n: FloatArray,
    total: FloatArray,
    squares: FloatArray,
    mean: float,
    variance: float,
) -> None:
    """Add a stratum to the sums of one side, (4, n_groups) in the order of `StratifiedSide`."""
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(weight > 0, weight**2 / n, 0.0)
        own_mean = np.where(weight > 0, total / n, 0.0)
    around_mean = np.maximum(squares - total * own_mean, 0.0)
    own = part * shrink_variance(around_mean, n, variance)
    of_freedom = own**2 / (np.maximum(n - 1, 0.0) + PRIOR_USERS)
    sums += (weight * (mean + own_mean), own, part * variance, of_freedom)


def _standardise(sums: FloatArray, weight: FloatArray) -> StratifiedSide:
    """Means from sums over strata, by the weight of all strata."""
    value, error2, like_all, of_freedom = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = np.where(of_freedom > 0, error2**2 / of_freedom, 1.0)
        return StratifiedSide(value / weight, error2 / weight**2, like_all / weight**2, freedom)


class RowSums(NamedTuple):
    """Users with a value, sums of their centred values and of squares; (n_metrics, n_rows) each."""

    n: BoolArray | FloatArray
    total: FloatArray
    squares: FloatArray


def row_sums(
    centred: FloatArray, n: BoolArray | FloatArray, inner: FloatArray | None = None
) -> RowSums:
    """The sums of rows with these values, 0 where there is none.

    Parameters
    ----------
    inner : squares of the users of a row around its value; None where a row is a user
    """
    if inner is None:
        return RowSums(n, centred, centred**2)
    return RowSums(n, centred * n, centred**2 * n + np.where(n > 0, inner, 0.0))


def distinct_masks(n: BoolArray | FloatArray) -> tuple[list[BoolArray | FloatArray], list[int]]:
    """The distinct rows, and the position of each row among them."""
    seen: dict[bytes, int] = {}
    of_row = [seen.setdefault(row.tobytes(), len(seen)) for row in n]
    return [n[of_row.index(i)] for i in range(len(seen))], of_row


class Stratified(NamedTuple):
    """Both sides, the mean of all users with the same weights, and the bounds without strata."""

    own: StratifiedSide
    others: StratifiedSide
    mean: FloatArray
    bounds: FloatArray
    is_rate: BoolArray


def stratified(
    rows: RowSums,
    n_of_group: FloatArray,
    means: FloatArray,
    grouping: Grouping,
    strata: Strata,
    bounds: tuple[FloatArray, BoolArray],
    threads: int,
) -> tuple[Weights, Stratified]:
    """The weights of all strata, and both sides of each group.

    Parameters
    ----------
    rows : of values centred on the means of strata
    means : (n_metrics, n_strata)
    """
    shape = (len(rows.total), len(grouping.lattice))
    masks, mask_of_metric = distinct_masks(rows.n)
    total, null_variance, own_weight, others_weight, mean = np.zeros((5, *shape))
    own, others = np.zeros((2, 4, *shape))
    n_all = np.array([strata.sums(mask) for mask in masks])
    squares_all = np.array([strata.sums(row) for row in rows.squares])
    each = _each_stratum(masks, [*rows.total], [*rows.squares], grouping, strata, threads)
    for stratum, (n_of_mask, totals, squares) in enumerate(each):
        for i, mask in enumerate(mask_of_metric):
            n, n_here = n_of_mask[mask], n_all[mask, stratum]
            if n_here < 2:
                continue
            weight = n * (n_here - n) / n_here
            all_squares, mean_here = squares_all[i, stratum], means[i, stratum]
            variance = all_squares / (n_here - 1)
            total[i] += weight
            null_variance[i] += variance * weight
            own_weight[i] += weight * (n_here - n) / n_here
            others_weight[i] += weight * n / n_here
            mean[i] += weight * mean_here
            _add_stratum(own[:, i], weight, n, totals[i], squares[i], mean_here, variance)
            rest = all_squares - squares[i]
            sides = n_here - n, -totals[i], rest
            _add_stratum(others[:, i], weight, *sides, mean_here, variance)
    each = _each_stratum(masks, [], [], grouping, strata, threads)
    n_kept = _kept(n_of_group, total, mask_of_metric, n_all, each)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = Weights(
            total, null_variance, own_weight / total**2, others_weight / total**2, n_kept
        )
        both = _standardise(own, total), _standardise(others, total)
        return weights, Stratified(*both, mean / total, *bounds)


def _kept(
    n: FloatArray,
    total: FloatArray,
    mask_of_metric: list[int],
    n_all: FloatArray,
    each: Iterator[tuple[FloatArray, FloatArray, FloatArray]],
) -> FloatArray:
    """(n_metrics, n_groups), users that a group and the weights of strata have in common."""
    n_kept = np.zeros(total.shape)
    for stratum, (n_of_mask, *_) in enumerate(each):
        for i, mask in enumerate(mask_of_metric):
            n_in, n_here = n_of_mask[mask], n_all[mask, stratum]
            with np.errstate(invalid="ignore", divide="ignore"):
                share = n_in * (n_here - n_in) / max(n_here, 1.0) / total[i]
            n_kept[i] += np.minimum(n_in, np.nan_to_num(share) * n[i])
    return n_kept


def _each_stratum(
    masks: list[BoolArray | FloatArray],
    totals: list[FloatArray],
    squares: list[FloatArray],
    grouping: Grouping,
    strata: Strata,
    threads: int,
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Users of each mask, totals and squares of each metric in every group, stratum by stratum."""
    cells, n_masks, n_metrics = grouping.cells, len(masks), len(totals)
    for rows in strata.rows:
        of_row = cells.of_user[rows]
        columns = [
            np.bincount(of_row, weights=row[rows], minlength=len(cells))
            for row in (*masks, *totals, *squares)
        ]
        per_cell = np.array(columns, dtype=np.float64).reshape(-1, len(cells))
        sums = grouping.lattice.sums(per_cell, threads)
        yield sums[:n_masks], sums[n_masks : n_masks + n_metrics], sums[n_masks + n_metrics :]
