"""How far a group is from all others, in standard errors of two kinds.

By the **chance error** a difference is measured against the spread among all users: exact for
random groups, but a group whose own values vary more is found without being worse. By the **own
error** it is measured against the spread within the group and among the others (Welch), moderated
in small groups and put on the scale of a normal variable. A group differs where both are large.

The variance of a value between two bounds, a and b, is a share, the dispersion, of (m - a)(b - m)
at its mean m; 1 for a rate. A bounded metric has the variance of its group's dispersion at the mean
of all (a score test): otherwise groups with few hits would have hardly any spread.

A small group may miss the extreme values of a wider group that contains it, in its mean and in its
variance. So where a group or a wider one varies clearly more than all users, its variance is drawn
to that of the widest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.groups.lattice import Lattice, parent_links
from fairrec.statistics.moments import Moments
from fairrec.statistics.simultaneous import Columns
from fairrec.statistics.strata import PRIOR_USERS, Stratified, StratifiedSide

KNOWN = 1e9
"""Degrees of freedom of a spread that needs no estimate."""


class Scores(NamedTuple):
    """Differences in standard errors; (n_metrics, n_groups) each, 0 where undefined."""

    by_chance: FloatArray
    by_own: FloatArray

    @property
    def smaller(self) -> FloatArray:
        """The one of the two that is nearer to 0: what a group stands out by, by both."""
        return np.where(np.abs(self.by_own) < np.abs(self.by_chance), self.by_own, self.by_chance)


class Everyone(NamedTuple):
    """The values of all users; (n_metrics,) each, but `bounds` (n_metrics, 2)."""

    mean: FloatArray
    variance: FloatArray
    n: FloatArray
    bounds: FloatArray
    is_rate: BoolArray


class Compared(NamedTuple):
    """How groups are compared with all others, whatever the values; (n_metrics, n_groups) each.

    Parameters
    ----------
    n, n_others : users of both sides
    per_total : difference per centred sum; NaN where the others are those of a sample
    chance_error : of the difference
    own, others : multipliers of the variances of a value, as in `Weights`
    """

    n: FloatArray
    n_others: FloatArray
    per_total: FloatArray
    chance_error: FloatArray
    own: FloatArray
    others: FloatArray


class Sums(NamedTuple):
    """Sums of centred values; (n_metrics, n_groups) each.

    Parameters
    ----------
    total, squares : of the known users of a group
    shared_total, shared_squares : of those of them who are in the sample
    """

    total: FloatArray
    squares: FloatArray
    shared_total: FloatArray
    shared_squares: FloatArray


def summarise_everyone(moments: Moments) -> Everyone:
    """The values of all users."""
    return Everyone(
        moments.mean, moments.variance, moments.n_users, moments.bounds, moments.is_rate
    )


def prepare_comparison(moments: Moments) -> Compared:
    """How each group is compared."""
    weights = moments.weights
    per_total = np.full_like(weights.total, np.nan)
    if moments.sample is None:
        np.divide(1.0, weights.total, out=per_total, where=weights.total > 0)
    return Compared(
        moments.n, moments.n_others, per_total, moments.chance_error, weights.own, weights.others
    )


def compute_scores(moments: Moments, own: Spread | None = None) -> Scores:
    """The scores of all groups, by their spread or a given one."""
    weights, difference = moments.weights, moments.difference
    own = own_spread(moments) if own is None else own
    error, freedom = own_error(own, others_spread(moments), weights.own, weights.others)
    is_compared = (moments.chance_error > 0) & np.isfinite(difference)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_chance = difference / moments.chance_error
        by_own = normal_scale(difference / error, freedom)
    return Scores(
        np.where(is_compared, by_chance, 0.0), np.where(is_compared & (error > 0), by_own, 0.0)
    )


class Spread(NamedTuple):
    """The variance of a value on one side, and how well it is known.

    Parameters
    ----------
    variance : at the mean of all users; where a metric has bounds, dispersion times
        (mean - a)(b - mean)
    dispersion : that share; 0 for a metric without bounds
    freedom : degrees of freedom
    """

    variance: FloatArray
    dispersion: FloatArray
    freedom: FloatArray


def own_spread(moments: Moments) -> Spread:
    """The spread within each group."""
    if moments.within is not None:
        return _spread_within(moments.within, moments.within.own, moments.weights.own)
    n, size = moments.n, moments.size
    return _spread_of(moments, n, moments.deviation, moments.own_squares, size)


def others_spread(moments: Moments) -> Spread:
    """The spread among all others."""
    if moments.within is not None:
        return _spread_within(moments.within, moments.within.others, moments.weights.others)
    n, deviation = moments.n_others, moments.others_deviation
    return _spread_of(moments, n, deviation, moments.others_squares, moments.size_others)


def _spread_of(
    moments: Moments, n: FloatArray, deviation: FloatArray, squares: FloatArray, size: FloatArray
) -> Spread:
    variance, dispersion, freedom = np.zeros((3, *n.shape))
    _spreads(
        summarise_everyone(moments), n, deviation, squares, size, variance, dispersion, freedom
    )
    return Spread(variance, dispersion, freedom)


def _spread_within(within: Stratified, side: StratifiedSide, weight: FloatArray) -> Spread:
    """The spread of one side within strata: times the weight it is the variance of its mean.

    A dispersion is the larger one of its own, and that of all users: a few users without a miss do
    not make a rate certain.
    """
    low, high = within.bounds[:, None, 0], within.bounds[:, None, 1]
    is_bounded = np.isfinite(low) & np.isfinite(high)
    is_rate = within.is_rate[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        at_all = np.maximum((within.mean - low) * (high - within.mean), 0.0)
        at_own = np.maximum((side.value - low) * (high - side.value), 0.0)
        like_all = side.like_all / weight / at_all
        own = np.where(is_rate, 0.0, side.error2 / weight / at_own)
        # at a bound the spread is unknown, and 1 is the largest possible dispersion
        dispersion = np.clip(np.nan_to_num(np.fmax(own, like_all), nan=1.0), 0.0, 1.0)
        return Spread(
            np.where(is_bounded, dispersion * at_all, side.error2 / weight),
            np.where(is_bounded, dispersion, 0.0),
            np.where(is_bounded & is_rate, KNOWN, side.freedom),
        )


def own_error(
    own: Spread, others: Spread, own_weight: FloatArray, others_weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Standard error of a difference by the spread of both sides, and its degrees of freedom."""
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = own.variance * own_weight, others.variance * others_weight
        share = x / (x + y)
        # Welch and Satterthwaite
        freedom = 1 / (share**2 / own.freedom + (1 - share) ** 2 / others.freedom)
        return np.sqrt(x + y), freedom


def maxima(
    everyone: Everyone,
    compared: Compared,
    sums: Sums,
    tested: Columns,
    intervals: Columns,
    bounded_within: BoolArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """The largest scores upwards and downwards, in each column.

    Parameters
    ----------
    bounded_within : (n_metrics,), whether a metric has bounds, where groups are compared within
        strata: there the score by chance error replaces the smaller one, and counts for score
        intervals; None in one stratum

    Returns
    -------
    smaller, by own error : (2, n_columns) of either kind of columns
    """
    smaller = np.zeros((2, tested.n_columns))
    by_own = np.zeros((2, intervals.n_columns))
    columns = tested.of_group, intervals.of_group
    is_within = bounded_within is not None
    has_score_interval = (
        np.zeros(len(everyone.mean), dtype=np.bool_) if bounded_within is None else bounded_within
    )
    _maxima(everyone, compared, sums, *columns, is_within, has_score_interval, smaller, by_own)
    return smaller, by_own


def normal_scale(t: FloatArray, freedom: FloatArray) -> FloatArray:
    """The normal deviate with the tail of Student's t (Wallace 1959, to a few thousandths)."""
    size = (8 * freedom + 1) / (8 * freedom + 3) * np.sqrt(freedom * np.log1p(t * t / freedom))
    return np.asarray(np.copysign(size, t))


def student_scale(z: FloatArray, freedom: FloatArray) -> FloatArray:
    """The inverse of `normal_scale`."""
    scaled = (z * (8 * freedom + 3) / (8 * freedom + 1)) ** 2 / freedom
    # practically infinite, but its square is finite
    t = np.sqrt(freedom * np.expm1(np.minimum(scaled, 200.0)))
    return np.asarray(np.where(np.isinf(z), np.inf, t))


TRIGGER = 1.5
"""Multiple of the variance of all users from which a group is guarded."""
ANCESTOR_USERS = 10.0
"""Weight, in users, of the widest group that contains a group."""


class GuardedSpread(NamedTuple):
    """The spread of groups; (n_metrics, n_groups).

    Parameters
    ----------
    is_guarded : groups that vary more than everyone, or are part of one that does
    """

    spread: Spread
    is_guarded: BoolArray


def guard_spread(spread: Spread, moments: Moments, lattice: Lattice) -> GuardedSpread:
    """The spread of groups; of guarded ones at least that drawn to their widest ancestor."""
    own, everyone = np.nan_to_num(spread.variance), moments.variance[:, None]
    of_ancestor = widest_ancestor(own, lattice)
    is_guarded = np.maximum(own, of_ancestor) > TRIGGER * everyone
    n = moments.n
    drawn = (n * own + ANCESTOR_USERS * of_ancestor) / (n + ANCESTOR_USERS)
    variance = np.where(is_guarded, np.fmax(spread.variance, drawn), spread.variance)
    times = np.divide(variance, own, out=np.ones_like(own), where=own > 0)
    dispersion = np.minimum(spread.dispersion * times, 1.0)
    return GuardedSpread(spread._replace(variance=variance, dispersion=dispersion), is_guarded)


def widest_ancestor(variance: FloatArray, lattice: Lattice) -> FloatArray:
    """(n_metrics, n_groups), the largest variance of the groups that contain each; 0 without any.

    A group that has the same users as a narrower one, as a city has that lies in one country, is
    contained in whatever contains that one.
    """
    found, links = np.zeros_like(variance), parent_links(lattice)
    _inherit(found, variance, links)
    for group, parent in reversed(links):
        is_same = lattice.n_users[group] == lattice.n_users[parent]
        alike, named = group[is_same], parent[is_same]
        found[:, named] = np.maximum(found[:, named], found[:, alike])
    _inherit(found, variance, links)
    return found


def _inherit(
    found: FloatArray, variance: FloatArray, links: Sequence[tuple[IntArray, IntArray]]
) -> None:
    """Raise the variance of groups to that of their parents."""
    for group, parent in links:
        widest = np.maximum(variance[:, parent], found[:, parent])
        found[:, group] = np.maximum(found[:, group], widest)


@kernel
def _common(
    everyone: Everyone, metric: int
) -> tuple[float, float, float, float, float, float, bool]:
    """Mean, variance, bounds, (mean - a)(b - mean) or -1, dispersion of all users, and is_rate.

    Numbers alone: passing arrays to a function for each group costs more than its arithmetic.
    """
    mean, variance, n = everyone.mean[metric], everyone.variance[metric], everyone.n[metric]
    low, high = everyone.bounds[metric, 0], everyone.bounds[metric, 1]
    at_all, of_all = -1.0, 0.0
    if np.isfinite(low) and np.isfinite(high):
        at_all = max((mean - low) * (high - mean), 0.0)
        squares = variance * (n - 1)
        if at_all > 0 and squares > 0:
            of_all = min(1.0, squares / ((n - 1) * at_all + squares / n))
    return mean, variance, low, high, at_all, of_all, everyone.is_rate[metric]


@kernel
def _spread(
    common: tuple[float, float, float, float, float, float, bool],
    n: float,
    deviation: float,
    squares: float,
    size: float,
) -> tuple[float, float, float]:
    """Variance at the mean of all, dispersion and degrees of freedom of one side.

    The variance of a ratio's terms grows with what is due, as that of counts does: with `size` for
    each of the users, `n`. A dispersion is drawn to that of all users. `squares / n` corrects (m -
    a)(b - m) for the estimated mean, so that a rate has exactly 1.
    """
    mean, variance, low, high, at_all, of_all, is_rate = common
    freedom = max(n - 1, 0.0) + PRIOR_USERS
    if at_all < 0:
        return (squares + PRIOR_USERS * variance * size / n) / freedom, 0.0, freedom
    if at_all == 0:
        # all known users are at one bound, which says nothing about the spread of others
        return 0.0, 1.0, freedom
    if is_rate:
        return at_all, 1.0, KNOWN
    at_mean = max((mean + deviation - low) * (high - mean - deviation), 0.0)
    above = squares + PRIOR_USERS * of_all * at_all
    below = (n - 1) * at_mean + squares / n + PRIOR_USERS * at_all
    dispersion = min(1.0, above / below)
    return dispersion * at_all, dispersion, freedom


@kernel
def _t_squared(
    common: tuple[float, float, float, float, float, float, bool],
    all_squares: float,
    difference: float,
    sides: tuple[float, float, float, float],
    sums: tuple[float, float, float, float],
) -> tuple[float, float]:
    """Square of the difference over its own error, and the degrees of freedom (Welch)."""
    n, n_others, own, others = sides
    total, squares, shared_total, shared_squares = sums
    mean, others_mean = total / n, -shared_total / n_others
    variance, _, freedom = _spread(common, n, mean, max(squares - total * mean, 0.0), n)
    others_squares = all_squares - shared_squares + shared_total * others_mean
    others_variance, _, others_freedom = _spread(
        common, n_others, others_mean, max(others_squares, 0.0), n_others
    )
    x, y = variance * own, others_variance * others
    if not x + y > 0:
        return 0.0, 1.0
    share = x / (x + y)
    freedom = 1 / (share * share / freedom + (1 - share) * (1 - share) / others_freedom)
    return difference * difference / (x + y), freedom


@kernel
def _on_normal_scale(t_squared: float, freedom: float) -> float:
    factor = (8 * freedom + 1) / (8 * freedom + 3)
    return float(factor * np.sqrt(freedom * np.log1p(t_squared / freedom)))


@kernel
def _spreads(
    everyone: Everyone,
    n: FloatArray,
    deviation: FloatArray,
    squares: FloatArray,
    size: FloatArray,
    variance: FloatArray,
    dispersion: FloatArray,
    freedom: FloatArray,
) -> None:
    for i in range(len(n)):
        common = _common(everyone, i)
        for at in range(n.shape[1]):
            if n[i, at] > 0:
                found = _spread(common, n[i, at], deviation[i, at], squares[i, at], size[i, at])
                variance[i, at], dispersion[i, at], freedom[i, at] = found


@kernel
def _maxima(
    everyone: Everyone,
    compared: Compared,
    sums: Sums,
    tested: IntArray,
    intervals: IntArray,
    is_within: bool,
    has_score_interval: BoolArray,
    smaller: FloatArray,
    by_own: FloatArray,
) -> None:
    for i in range(len(tested)):
        common = _common(everyone, i)
        all_squares = everyone.variance[i] * max(everyone.n[i] - 1, 0.0)
        for at in range(tested.shape[1]):
            error = compared.chance_error[i, at]
            if tested[i, at] < 0 or not error > 0:
                continue
            n, n_others = compared.n[i, at], compared.n_others[i, at]
            total, shared_total = sums.total[i, at], sums.shared_total[i, at]
            difference = total * compared.per_total[i, at]
            if np.isnan(difference):
                difference = total / n + shared_total / n_others
            tail = 0 if difference > 0 else 1
            least, least_own = smaller[tail, tested[i, at]], by_own[tail, intervals[i, at]]
            by_chance = abs(difference) / error
            t_squared, freedom = _t_squared(
                common,
                all_squares,
                difference,
                (n, n_others, compared.own[i, at], compared.others[i, at]),
                (total, sums.squares[i, at], shared_total, sums.shared_squares[i, at]),
            )
            # the normal scale is the smaller one, so most need no logarithm
            if is_within:
                smaller[tail, tested[i, at]] = max(least, by_chance)
                if has_score_interval[i]:
                    least_own = max(least_own, by_chance)
                    by_own[tail, intervals[i, at]] = least_own
            is_larger = by_chance > least and t_squared > least * least
            if is_larger or t_squared > least_own * least_own:
                score = _on_normal_scale(t_squared, freedom)
                by_own[tail, intervals[i, at]] = max(least_own, score)
                if not is_within:
                    smaller[tail, tested[i, at]] = max(least, min(by_chance, score))
