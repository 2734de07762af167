"""Count, sum and sum of squares of each metric over each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairrec.core.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.metrics.measured import Alike, Measured
from fairrec.statistics.strata import (
    RowSums,
    Strata,
    Stratified,
    Weights,
    distinct_masks,
    one_stratum,
    row_sums,
    stratified,
)

UNBOUNDED = (-np.inf, np.inf)
_LONG_TAIL = 1.5
"""Skewness beyond which an upper tail is long; that of an exponential variable is 2."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A reference sample and fully scored groups, where only some users are scored.

    Parameters
    ----------
    is_reference : (n_users,), the sample, drawn at random among all users
    is_fully_scored_cell, is_fully_scored_group : (n_cells,) and (n_groups,), all users are scored
    n, total, squares : (n_metrics, n_groups), of the reference sample alone, centred
    """

    is_reference: BoolArray
    is_fully_scored_cell: BoolArray
    is_fully_scored_group: BoolArray
    n: FloatArray
    total: FloatArray
    squares: FloatArray


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, sum and sum of squares of each group, from which estimates and tests follow.

    Values are centred on the mean of their stratum first, so that squares lose no digits. Where
    only some users are scored, "all users" is the reference sample, a group is known by all its
    users where it is fully scored and else by those in the sample, and it is compared with the
    others in the sample.

    Parameters
    ----------
    mean, sd, n_users : (n_metrics,), over the users with a defined value
    variance : (n_metrics,), of a value within strata
    bounds : (n_metrics, 2), lowest and highest possible value; infinite without one, and within
        strata
    is_rate : (n_metrics,), whether only these two values occur
    n, total, squares : (n_metrics, n_groups), of centred values
    centred_per_row : (n_metrics, n_rows), 0 where undefined
    n_per_row : (n_metrics, n_rows), users with a value: of a user 1 or 0
    level_of_row : (n_metrics, n_rows), users on one level may be exchanged; None where rows are
        users
    within : both sides of each group within strata; None in one stratum
    sample : None where all users are scored
    size, size_per_row : (n_metrics, n_groups) and (n_metrics, n_rows), divisors of a sum that give
        a mean: users, or the denominators of ratios
    """

    mean: FloatArray
    sd: FloatArray
    variance: FloatArray
    n_users: FloatArray
    bounds: FloatArray
    is_rate: BoolArray
    n: FloatArray
    total: FloatArray
    squares: FloatArray
    centred_per_row: FloatArray
    n_per_row: BoolArray | FloatArray
    size: FloatArray
    size_per_row: BoolArray | FloatArray
    strata: Strata
    weights: Weights
    within: Stratified | None = None
    sample: Sample | None = None
    level_of_row: IntArray | None = None

    @property
    def n_others(self) -> FloatArray:
        """(n_metrics, n_groups), users a group is compared with."""
        return self.n_users[:, None] - (self.n if self.sample is None else self.sample.n)

    @property
    def size_others(self) -> FloatArray:
        """(n_metrics, n_groups), the divisor of their sum."""
        if self.sample is not None:
            return self.n_others
        return _above_rounding(self.n_users[:, None] - self.size, self.n_users)

    @property
    def deviation(self) -> FloatArray:
        """(n_metrics, n_groups), mean of the group minus mean of all; NaN for an empty group."""
        return _ratio(self.total, self.size)

    @property
    def others_deviation(self) -> FloatArray:
        """(n_metrics, n_groups), mean of all others minus mean of all; NaN without others."""
        # centred values add up to 0
        shared = self if self.sample is None else self.sample
        return -_ratio(shared.total, self.size_others)

    @property
    def difference(self) -> FloatArray:
        """(n_metrics, n_groups), mean of the group minus mean of all others; NaN without others.

        With strata the mean over strata of the differences there.
        """
        if self.sample is None:
            return _ratio(self.total, self.weights.total)
        return self.deviation - self.others_deviation

    @property
    def chance_error(self) -> FloatArray:
        """(n_metrics, n_groups), standard deviation of `difference` over permutations."""
        return _ratio(np.sqrt(self.weights.null_variance), self.weights.total)

    @property
    def own_squares(self) -> FloatArray:
        """(n_metrics, n_groups), sum of squares around the mean of the group."""
        return np.maximum(self.squares - _ratio(self.total**2, self.n, 0.0), 0.0)

    @property
    def others_squares(self) -> FloatArray:
        """(n_metrics, n_groups), sum of squares of all others around their mean."""
        shared = self if self.sample is None else self.sample
        all_squares = (self.variance * np.maximum(self.n_users - 1, 0))[:, None]
        rest = all_squares - shared.squares - _ratio(shared.total**2, self.n_others, 0.0)
        return np.maximum(rest, 0.0)


def compute_moments(
    measured: Measured, grouping: Grouping, threads: int = 1, strata: Strata | None = None
) -> Moments:
    """Moments of all users, or of those that a search has scored."""
    bounds = np.array(
        [metric.metric.bounds or UNBOUNDED for metric in measured.metrics], dtype=np.float64
    ).reshape(-1, 2)
    if measured.is_complete:
        found = group_moments(measured.terms, grouping, threads, bounds, strata, measured.alike)
        if measured.ratio is None:
            return found
        below = measured.ratio.below
        size = grouping.lattice.sums(np.array([grouping.cells.sums(row) for row in below]))
        return replace(divide_by_size(found, size), size_per_row=below)
    return sampled_moments(
        measured.values, measured.is_scored, measured.is_reference, grouping, threads, bounds
    )


def group_moments(
    values: FloatArray,
    grouping: Grouping,
    threads: int = 1,
    bounds: FloatArray | None = None,
    strata: Strata | None = None,
    alike: Alike | None = None,
) -> Moments:
    """Moments of each metric over each group.

    Parameters
    ----------
    values : (n_metrics, n_rows), NaN where undefined
    bounds : (n_metrics, 2), of the metrics
    alike : users behind each row; None where a row is a user
    """
    is_defined = ~np.isnan(values)
    n_per_row = is_defined if alike is None else np.where(is_defined, alike.n, 0.0)
    inner = None if alike is None else alike.inner
    mean, sd, n_users = _overall(values, n_per_row, inner)
    bounds, is_rate = _bounds(values, n_per_row, bounds)
    centred = np.where(n_per_row > 0, values - mean[:, None], 0.0)
    within = None
    if strata is None:
        n, total, squares = _group_sums(row_sums(centred, n_per_row, inner), grouping, threads)
        weights = one_stratum_weights(n, n_users[:, None] - n, sd[:, None] ** 2)
        strata = one_stratum(values.shape[1])
        variance = sd**2
    else:
        means = np.array(
            [strata.means(row, n) for row, n in zip(centred, n_per_row, strict=True)]
        ).reshape(len(mean), strata.n_strata)
        centred -= np.where(n_per_row > 0, means[:, strata.of_user], 0.0)
        rows = row_sums(centred, n_per_row, inner)
        n, total, squares = _group_sums(rows, grouping, threads)
        variance = rows.squares.sum(axis=1) / np.maximum(n_users - 1, 1)
        weights, within = stratified(
            rows, n, means + mean[:, None], grouping, strata, (bounds, is_rate), threads
        )
        bounds, is_rate = np.tile(UNBOUNDED, (len(mean), 1)), np.zeros(len(mean), dtype=bool)
    return Moments(
        mean=mean,
        sd=sd,
        variance=variance,
        n_users=n_users,
        bounds=bounds,
        is_rate=is_rate,
        n=n,
        total=total,
        squares=squares,
        centred_per_row=centred,
        n_per_row=n_per_row,
        size=n,
        size_per_row=n_per_row,
        strata=strata,
        weights=weights,
        within=within,
        level_of_row=None if alike is None else alike.level,
    )


def divide_by_size(found: Moments, size: FloatArray) -> Moments:
    """The moments with sums divided by the denominators of ratios, (n_metrics, n_groups).

    Scores by chance error do not change, as sum and error are divided by the same.
    """
    found = replace(found, size=_above_rounding(size, found.n_users))
    n, n_others, size, size_others = found.n, found.n_others, found.size, found.size_others
    return replace(
        found,
        weights=replace(
            found.weights,
            total=_ratio(size * size_others, size + size_others, 0.0),
            own=_ratio(n, size**2),
            others=_ratio(n_others, size_others**2),
        ),
    )


def sampled_moments(
    values_per_user: FloatArray,
    is_scored: BoolArray,
    is_reference: BoolArray,
    grouping: Grouping,
    threads: int = 1,
    bounds: FloatArray | None = None,
) -> Moments:
    """Moments where only some users are scored, with a sample drawn before any was."""
    is_defined = ~np.isnan(values_per_user)
    mean, sd, n_users = _overall(values_per_user, is_defined & is_reference)
    bounds, is_rate = _bounds(values_per_user, is_defined, bounds)
    centred = np.where(is_defined, values_per_user - mean[:, None], 0.0)
    of_scored = _group_sums(row_sums(centred, is_defined), grouping, threads)
    in_sample = row_sums(centred * is_reference, is_defined & is_reference)
    of_sample = _group_sums(in_sample, grouping, threads)
    cells, lattice = grouping.cells, grouping.lattice
    is_fully_scored_cell = cells.sums(is_scored) == cells.n_users
    is_fully_scored = lattice.sums((~is_fully_scored_cell).astype(np.float64)[None])[0] == 0
    n, total, squares = (
        np.where(is_fully_scored, *pair) for pair in zip(of_scored, of_sample, strict=True)
    )
    sample = Sample(is_reference, is_fully_scored_cell, is_fully_scored, *of_sample)
    return Moments(
        mean=mean,
        sd=sd,
        variance=sd**2,
        n_users=n_users,
        bounds=bounds,
        is_rate=is_rate,
        n=n,
        total=total,
        squares=squares,
        centred_per_row=centred,
        n_per_row=is_defined,
        size=n,
        size_per_row=is_defined,
        strata=one_stratum(grouping.n_users),
        weights=one_stratum_weights(n, n_users[:, None] - sample.n, sd[:, None] ** 2),
        sample=sample,
    )


def _bounds(
    values: FloatArray, n: BoolArray | FloatArray, bounds: FloatArray | None
) -> tuple[FloatArray, BoolArray]:
    """The bounds of each metric, and whether it is a rate.

    A metric with two values is a rate between these, and so is one that is 0 or 1 for all users.
    Bounds that values exceed are ignored. A metric without negative values has the lower bound 0,
    and one with a long upper tail its lowest value, such as an amount that may be paid back.
    """
    found = np.tile(UNBOUNDED, (len(values), 1)) if bounds is None else bounds.copy()
    is_rate = np.zeros(len(values), dtype=bool)
    for i, row in enumerate(values):
        known = row[n[i] > 0]
        if not len(known):
            continue
        smallest, largest = known.min(), known.max()
        margin = ROUNDING * (found[i, 1] - found[i, 0])
        if smallest < found[i, 0] - margin or largest > found[i, 1] + margin:
            found[i] = UNBOUNDED
        low, high = found[i] if np.isfinite(found[i]).all() else (smallest, largest)
        if low == high and low in (0.0, 1.0):
            low, high = 0.0, 1.0
        if low < high and ((known == low) | (known == high)).all():
            found[i], is_rate[i] = (low, high), True
        elif not np.isfinite(found[i]).any():
            if smallest >= 0:
                found[i, 0] = 0.0
            elif _skewness(known, n[i][n[i] > 0]) > _LONG_TAIL:
                found[i, 0] = smallest
    return found, is_rate


def _skewness(values: FloatArray, n: BoolArray | FloatArray) -> float:
    """The third standardised moment of values of `n` users each."""
    centred = values - np.average(values, weights=n)
    squared = float(np.average(centred**2, weights=n))
    return float(np.average(centred**3, weights=n)) / squared**1.5 if squared > 0 else 0.0


def one_stratum_weights(n: FloatArray, n_others: FloatArray, variance: FloatArray) -> Weights:
    """The weights of one stratum."""
    is_compared = (n > 0) & (n_others > 0)
    total = np.where(is_compared, _ratio(n * n_others, n + n_others, 0.0), 0.0)
    return Weights(total, variance * total, _ratio(1.0, n), _ratio(1.0, n_others), n)


def _overall(
    values: FloatArray, n: BoolArray | FloatArray, inner: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, standard deviation and number of users, for each metric."""
    is_counted = n > 0
    n_users = n.sum(axis=1).astype(np.float64)
    counted = np.where(is_counted, values, 0)
    mean = (counted * n).sum(axis=1) / np.maximum(n_users, 1)
    centred = np.where(is_counted, values - mean[:, None], 0.0)
    sd = np.sqrt(row_sums(centred, n, inner).squares.sum(axis=1) / np.maximum(n_users - 1, 1))
    # rounding leaves a trace of spread in a constant metric, which tests would magnify
    largest = np.abs(counted).max(axis=1, initial=0.0)
    sd[sd < 1e-13 * largest] = 0.0
    return mean, sd, n_users


def _group_sums(
    rows: RowSums, grouping: Grouping, threads: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(n_metrics, n_groups) each: number, sum and sum of squares."""
    masks, mask_of_metric = distinct_masks(rows.n)
    cells = grouping.cells
    columns = [cells.sums(row) for part in (masks, rows.total, rows.squares) for row in part]
    sums = grouping.lattice.sums(np.array(columns).reshape(-1, len(cells)), threads)
    n_masks, n_metrics = len(masks), len(rows.total)
    n = sums[np.array(mask_of_metric, dtype=np.int64)]
    return n, sums[n_masks : n_masks + n_metrics], sums[n_masks + n_metrics :]


def _above_rounding(size: FloatArray, n_users: FloatArray) -> FloatArray:
    """The size, 0 where it is a rounding error."""
    return np.where(size > ROUNDING * n_users[:, None], size, 0.0)


def _ratio(above: FloatArray | float, below: FloatArray, otherwise: float = np.nan) -> FloatArray:
    """The quotient, or another number where the divisor is 0."""
    shape = np.broadcast_shapes(np.shape(above), below.shape)
    out: FloatArray = np.full(shape, otherwise)
    np.divide(above, below, out=out, where=below > 0)
    return out


def quantiles(values: FloatArray, n: FloatArray, shares: Sequence[float]) -> FloatArray:
    """Quantiles of the values of all users, `n` of whom have each value.

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
