"""Groups of two audits without common users: from their published means and intervals.

A published interval has in it what it was made of: the variance of a metric without bounds, or
the dispersion of one between two (`intervals`). So a wider one, for all groups at once, can be
made of it without a single user's value (the method of variance estimates recovery, Zou and Donner
2008), and the two of a group give the interval of its change as two sides of a difference do. What
all others have is what is left of everyone's sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairrec.comparison.losses import ComparedGroups, cut_off, significance_levels
from fairrec.core.arrays import FloatArray, IntArray
from fairrec.statistics.intervals import Interval, Side, difference_interval
from fairrec.statistics.moments import UNBOUNDED
from fairrec.statistics.paired import binomial_interval
from fairrec.statistics.scores import KNOWN, Spread, student_scale

_ALIKE = 1e-6
"""What rounding may leave between numbers that are the same, as a share of their size."""


class Published(NamedTuple):
    """The groups of one metric as an audit publishes them; (n_groups,) each.

    Parameters
    ----------
    low, high : confidence interval of the value, one at a time; NaN where there is none
    alpha : of these intervals
    sd : standard deviation among all users; 0 where the error of their mean does not follow from it
    n_all, mean : number of all users with a value, and their mean
    """

    n: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    alpha: float
    sd: float = 0.0
    n_all: float = np.nan
    mean: float = np.nan


def compare_unpaired(
    before: Sequence[Published],
    after: Sequence[Published],
    depths: Sequence[IntArray],
    known_bounds: Sequence[tuple[float, float] | None],
    alpha: float,
    tested: IntArray | None = None,
) -> tuple[ComparedGroups, ...]:
    """The groups of each metric, by two independent sets of users.

    Parameters
    ----------
    before, after : one entry a metric, of the same groups in the same order; NaN where there is
        no such group
    depths : how many attributes these groups have
    known_bounds : lowest and highest value of each metric, where that is known
    tested : as of `compare_paired`
    """
    if tested is None:
        parts = zip(before, after, depths, strict=True)
        tested = np.concatenate(
            [
                depth[np.isfinite(first.high - first.low) & np.isfinite(last.high - last.low)]
                for first, last, depth in parts
            ]
        )
    found = []
    for first, last, depth, known in zip(before, after, depths, known_bounds, strict=True):
        level = significance_levels(depth, tested, alpha)
        bounds = infer_bounds((first, last), known)
        # of a handful of users none may be of the few who have much, so that they look alike
        least = max(first.sd, last.sd)
        recovered = recover_side(first, bounds), recover_side(last, bounds)
        sides = _varying(recovered[0], bounds, least), _varying(recovered[1], bounds, least)
        change = last.value - first.value
        interval = difference_interval(sides[1], sides[0], change, np.array(bounds), cut_off(level))
        if all((side.spread.freedom == KNOWN).all() for side in sides):
            exact = _exact(*sides, change, bounds, level)
            interval = Interval(
                np.minimum(interval.low, exact.low), np.maximum(interval.high, exact.high)
            )
        is_known = np.isfinite(interval.low) & np.isfinite(interval.high)
        interval = Interval(*(np.where(is_known, end, np.nan) for end in interval))
        others = [_others(*pair, bounds) for pair in zip((first, last), recovered, strict=True)]
        difference = change - (others[1].value - others[0].value)
        far = cut_off(level).up * np.sqrt(sum(one.spread.variance * one.weight for one in others))
        low = difference - np.hypot(change - interval.low, far)
        high = difference + np.hypot(interval.high - change, far)
        difference = np.where(np.isfinite(low), difference, np.nan)
        n = np.where(np.isnan(last.n), first.n, last.n)
        error = np.hypot(*(_error(side, bounds) for side in sides))
        own = first.value, last.value, change, error
        found.append(ComparedGroups(n, *own, *interval, is_known, difference, low, high))
    return tuple(found)


def _others(published: Published, own: Side, bounds: tuple[float, float]) -> Side:
    """All users outside each group: what is left of the sums of all users; NaN without any."""
    n, mean = np.where(published.n_all > own.n, published.n_all - own.n, np.nan), published.mean
    value = (published.n_all * mean - own.n * own.value) / n
    squares = published.n_all * published.sd**2 - own.n**2 * _error(own, bounds) ** 2
    squares -= own.n * (own.value - mean) ** 2 + n * (value - mean) ** 2
    variance = np.where(published.sd > 0, np.maximum(squares, 0.0) / n, np.nan)
    return Side(n, value, Spread(variance, np.zeros_like(n), n - 1), 1 / n)


def infer_bounds(
    sides: Sequence[Published], known: tuple[float, float] | None
) -> tuple[float, float]:
    """The bounds that intervals were made with: none where all are as wide up as down.

    Where bounds are not known, only rates of 0 and 1 have both.
    """
    for one in sides:
        up, down = one.high - one.value, one.value - one.low
        is_even = np.abs(up - down) <= _ALIKE * (one.high - one.low)
        if is_even[np.isfinite(up + down)].all():
            return UNBOUNDED
    if known is not None:
        return known
    values = np.concatenate([one.value for one in sides])
    if np.nanmin(values) < 0 or np.nanmax(values) > 1:
        return UNBOUNDED
    is_rate = all((recover_side(one, (0.0, 1.0)).spread.freedom == KNOWN).all() for one in sides)
    return (0.0, 1.0) if is_rate else UNBOUNDED


def recover_side(published: Published, bounds: tuple[float, float]) -> Side:
    """What a published interval was made of."""
    n, value, low, high, alpha, *_ = published
    score, freedom = cut_off(alpha).up, np.maximum(n, 1.0)
    lowest, most = bounds[0], bounds[1] - bounds[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        if not np.isfinite(most):
            # of values that are never negative the lower half is cut at 0, the upper one larger
            half = np.where(low == 0, high - value, value - low)
            if published.sd == 0:
                # of items, whose upper end is the further one
                half = np.maximum(half, high - value)
            variance = n * (half / student_scale(score, freedom)) ** 2
            return Side(n, value, Spread(variance, np.zeros_like(n), freedom), 1 / n)
        # the far end is where the observed mean is as unlikely as the level
        is_up = value - lowest <= most / 2
        end = np.where(is_up, high, low) - lowest
        squares = (end - (value - lowest)) ** 2 / (end * (1 - end / most))
        per_user = squares * n / most
        # a rate has a dispersion of 1 and no degrees of freedom to lose
        is_one = np.abs(per_user / score**2 - 1) <= _ALIKE
        is_rate = bool(is_one[np.isfinite(per_user)].all())
        freedom = np.full_like(freedom, KNOWN) if is_rate else freedom
        dispersion = np.clip(per_user / student_scale(score, freedom) ** 2, 0.0, 1.0)
    return Side(n, value, Spread(np.zeros_like(n), dispersion, freedom), 1 / n)


def _varying(side: Side, bounds: tuple[float, float], sd: float) -> Side:
    """The same, varying no less than all users do."""
    spread, most = side.spread, bounds[1] - bounds[0]
    if not np.isfinite(most):
        return side._replace(spread=spread._replace(variance=np.maximum(spread.variance, sd**2)))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(side.n * side.value) / np.nansum(side.n)
        of_all = np.nan_to_num(sd**2 / ((mean - bounds[0]) * (bounds[1] - mean)), posinf=1.0)
    dispersion = np.maximum(spread.dispersion, np.clip(of_all, 0.0, 1.0))
    return side._replace(spread=spread._replace(dispersion=dispersion))


def _exact(
    first: Side, last: Side, change: FloatArray, bounds: tuple[float, float], level: FloatArray
) -> Interval:
    """Of changes of rates: by Clopper and Pearson's intervals, which hold for rare ones as well.

    Far out a score interval leaves out more than it should where a few of a few users are hit.
    """
    (low, high), (last_low, last_high) = (_binomial(side, bounds, level) for side in (first, last))
    return Interval(
        change - np.hypot(last.value - last_low, high - first.value),
        change + np.hypot(last_high - last.value, first.value - low),
    )


def _binomial(side: Side, bounds: tuple[float, float], level: FloatArray) -> Interval:
    lowest, most = bounds[0], bounds[1] - bounds[0]
    hits = np.clip(np.round(side.n * (side.value - lowest) / most), 0, side.n)
    low, high = binomial_interval(side.n, hits, level)
    return Interval(lowest + most * low, lowest + most * high)


def _error(side: Side, bounds: tuple[float, float]) -> FloatArray:
    """The standard error of a mean."""
    spread = side.spread
    if not np.isfinite(bounds[1] - bounds[0]):
        return np.asarray(np.sqrt(spread.variance * side.weight))
    at_mean = np.maximum((side.value - bounds[0]) * (bounds[1] - side.value), 0.0)
    return np.asarray(np.sqrt(spread.dispersion * at_mean * side.weight))
