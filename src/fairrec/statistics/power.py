"""The power of an audit: the smallest harm that it would detect, and what it can rule out.

The width of intervals follows from the sizes of groups, and from mean and spread of the metric:
simultaneous cut-offs are those of as many independent scores.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from scipy.special import bdtr, bdtrc, betainc, ndtr, ndtri

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.metrics.direction import worse_ends
from fairrec.statistics.intervals import CutOffs, Side, difference_interval
from fairrec.statistics.scores import KNOWN, Everyone, Spread, student_scale
from fairrec.statistics.simultaneous import DOWN, UP, form_columns, normal_cut_offs

POWER = 0.8
_STEPS = 50


def detectable_harm(
    everyone: Everyone,
    metric: int,
    n: FloatArray,
    critical: FloatArray,
    higher_is_better: bool | None,
    n_others: FloatArray | None = None,
) -> FloatArray:
    """The smallest true harm of groups of `n` users that is detected with 80% power.

    NaN where even the largest possible harm would be missed. Where neither end is better, the
    larger harm of both ends.

    Parameters
    ----------
    critical : (2,) or (2, n_groups), score up and down beyond which a group is significant
    n_others : users that each is compared with; by default all others
    """
    n = np.maximum(n, 1.0)
    if n_others is None:
        n_others = float(everyone.n[metric]) - n
    n_others = np.maximum(n_others, 1.0)
    found = [
        _detectable(everyone, metric, n, n_others, critical[UP if end > 0 else DOWN], end)
        for end in worse_ends(higher_is_better)
    ]
    return np.asarray(np.max(found, axis=0))


def _detectable(
    everyone: Everyone,
    metric: int,
    n: FloatArray,
    n_others: FloatArray,
    critical: FloatArray,
    end: float,
) -> FloatArray:
    mean, variance = float(everyone.mean[metric]), float(everyone.variance[metric])
    low, high = everyone.bounds[metric]
    # in a metric without spread nothing is detected
    if variance == 0:
        return np.full(n.shape, np.nan)
    largest = (high - mean) if end > 0 else (mean - low)
    if not np.isfinite(largest):
        largest = 1000 * np.sqrt(variance)
    chance_error = np.sqrt(variance * (1 / n + 1 / n_others))
    is_rate = bool(everyone.is_rate[metric])
    # by its own error a small group has a larger cut-off
    cut_off = critical if is_rate else student_scale(critical, n)
    reach = cut_off * chance_error

    def power(harm: FloatArray) -> FloatArray:
        value = mean + end * harm
        if is_rate:
            share = np.clip((value - low) / (high - low), 0.0, 1.0)
            needed = n * ((mean + end * reach - low) / (high - low))
            if end < 0:
                reached = bdtr(np.floor(needed + 1e-9), n.astype(np.int64), share)
            else:
                reached = bdtrc(np.ceil(needed - 1e-9) - 1, n.astype(np.int64), share)
            return np.where((needed < 0) | (needed > n), 0.0, reached)
        own = variance
        if np.isfinite(low) and np.isfinite(high):
            # the dispersion stays, the variance falls towards the bounds
            at_value = np.maximum((value - low) * (high - value), 0.0)
            own = variance * at_value / ((mean - low) * (high - mean))
        error = np.sqrt(own / n + variance / n_others)
        return np.asarray(ndtr((harm - reach) / np.maximum(error, 1e-300)))

    least, most = np.zeros(n.shape), np.full(n.shape, largest)
    is_found = power(most) >= POWER
    for _ in range(_STEPS):
        middle = (least + most) / 2
        is_enough = power(middle) >= POWER
        least, most = np.where(is_enough, least, middle), np.where(is_enough, middle, most)
    return np.where(is_found & np.isfinite(critical), most, np.nan)


MOST_TIMES = 1000
"""Growth beyond this is not suggested."""
_GROWTH_STEPS = 300
_SCORE_STEPS = 30
_LARGEST_SCORE = 40.0
_SKEWED = 1e6
"""A rate of more trials has practically the tails of a normal variable."""


def expected_cut_offs(
    everyone: Everyone, n_per_group: FloatArray, depth: IntArray, alpha: float
) -> FloatArray:
    """(2, n_groups), the expected cut-offs up and down of simultaneous intervals.

    As if groups and metrics were independent: in each column the expected number of scores beyond
    is its share of alpha. Skewness is known beforehand of rates alone.
    """
    n_metrics = len(everyone.mean)
    tested = np.ones((1, len(n_per_group)), dtype=bool)
    columns = form_columns(depth, tested, np.full(1, 0.5), n_per_group[None])
    n, at, counts = _sizes(n_per_group, columns.of_group[0])
    cut_offs = np.empty((2, columns.n_columns))
    for tail, end in ((UP, 1.0), (DOWN, -1.0)):
        low = np.zeros(columns.n_columns)
        high = np.full(columns.n_columns, _LARGEST_SCORE)
        for _ in range(_SCORE_STEPS):
            middle = (low + high) / 2
            beyond = [_tail(everyone, i, n, middle[at], end) for i in range(n_metrics)]
            # metrics share the level equally, and have tails of about the same length
            expected = np.bincount(at, counts * np.mean(beyond, axis=0), columns.n_columns)
            is_too_low = expected * n_metrics > alpha * columns.shares[tail]
            low, high = np.where(is_too_low, middle, low), np.where(is_too_low, high, middle)
        cut_offs[tail] = np.maximum(normal_cut_offs(columns, alpha / n_metrics)[tail], high)
    return columns.spread(cut_offs)[:, 0]


def certified_harm(
    everyone: Everyone,
    metric: int,
    n: FloatArray,
    cut_offs: FloatArray,
    higher_is_better: bool | None,
    probability: float,
) -> FloatArray:
    """The harm that is ruled out, with this probability, for groups without any difference.

    Parameters
    ----------
    n : (n_groups,), users
    cut_offs : (2, n_groups); the harm is NaN where they are infinite
    """
    up, down = cut_offs
    mean, variance = float(everyone.mean[metric]), float(everyone.variance[metric])
    low, high = bounds = everyone.bounds[metric]
    n_all = np.maximum(float(everyone.n[metric]), n + 1)
    n_others = n_all - n
    # without a worse end, both ends count
    chance = probability if higher_is_better is not None else (1 + probability) / 2
    harm = ndtri(chance) * np.sqrt(variance * (1 / n + 1 / n_others))
    found = []
    for end in worse_ends(higher_is_better):
        value, others_value = mean + end * harm * n_others / n_all, mean - end * harm * n / n_all
        own = _side(everyone, metric, n, np.clip(value, low, high))
        others = _side(everyone, metric, n_others, np.clip(others_value, low, high))
        interval = difference_interval(
            own, others, own.value - others.value, bounds, CutOffs(up, down)
        )
        found.append(interval.high if end > 0 else -interval.low)
    largest = np.max(found, axis=0)
    return np.where(np.isfinite(up) & np.isfinite(down), largest, np.nan)


def growth_needed(
    everyone: Everyone,
    n_per_group: FloatArray,
    depth: IntArray,
    groups: IntArray,
    tolerance: Sequence[float],
    higher_is_better: Sequence[bool | None],
    alpha: float,
) -> FloatArray:
    """(n_metrics, len(groups)), how many times the users it takes to rule out the tolerance.

    With 80% probability, in groups without any difference, where all groups grow alike; to 2%. NaN
    where 1,000 times as many are not enough.

    Parameters
    ----------
    n_per_group, depth : of all groups that are tested
    groups : positions in these
    tolerance, higher_is_better : of each metric; NaN without a tolerance
    """

    def times(step: int) -> float:
        return float(MOST_TIMES ** (step / _GROWTH_STEPS))

    @cache
    def cut_offs(step: int) -> FloatArray:
        grown = _grown(everyone, times(step))
        return expected_cut_offs(grown, n_per_group * times(step), depth, alpha)

    def is_ruled_out(metric: int, group: int, step: int) -> bool:
        grown, n_grown = _grown(everyone, times(step)), n_per_group[[group]] * times(step)
        at = cut_offs(step)[:, [group]]
        harm = certified_harm(grown, metric, n_grown, at, higher_is_better[metric], POWER)
        return bool(harm[0] < tolerance[metric])

    found = np.full((len(tolerance), len(groups)), np.nan)
    for metric, at in np.ndindex(found.shape):
        step = bisect_left(
            range(_GROWTH_STEPS + 1), True, key=partial(is_ruled_out, metric, int(groups[at]))
        )
        if step <= _GROWTH_STEPS:
            found[metric, at] = times(step)
    return found


def _grown(everyone: Everyone, times: float) -> Everyone:
    """All users, grown in number."""
    return everyone._replace(n=everyone.n * times)


def _side(everyone: Everyone, metric: int, n: FloatArray, value: FloatArray) -> Side:
    """A side with the spread of all users, and another mean."""
    mean, variance = float(everyone.mean[metric]), float(everyone.variance[metric])
    low, high = everyone.bounds[metric]
    is_bounded = np.isfinite(low) and np.isfinite(high) and low < mean < high
    dispersion = min(1.0, variance / ((mean - low) * (high - mean))) if is_bounded else 0.0
    freedom = np.full(n.shape, KNOWN) if everyone.is_rate[metric] else n
    spread = Spread(np.full(n.shape, variance), np.full(n.shape, dispersion), freedom)
    return Side(n, value, spread, 1 / n)


def _tail(
    everyone: Everyone, metric: int, n: FloatArray, score: FloatArray, end: float
) -> FloatArray:
    """The probability of a score beyond this one, for a group of `n` users without a difference.

    A rate is skewed, and is approximated by a binomial variable with the same skewness.
    """
    if not everyone.is_rate[metric]:
        return np.asarray(ndtr(-score))
    low, high = everyone.bounds[metric]
    share = (float(everyone.mean[metric]) - low) / (high - low)
    n_others = np.maximum(float(everyone.n[metric]) - n, 1.0)
    skew = (1 / n - 1 / n_others) / np.sqrt(1 / n + 1 / n_others)
    n_trials = 1 / np.maximum(skew**2, 1 / _SKEWED)
    # a group of most users is seen through the hits of the few others
    of_tail = np.where((skew > 0) == (end > 0), share, 1 - share)
    needed = n_trials * of_tail + score * np.sqrt(n_trials * share * (1 - share))
    beyond = betainc(np.minimum(needed, n_trials), np.maximum(n_trials - needed, 0.0) + 1, of_tail)
    return np.where(needed > n_trials, 0.0, beyond)


def _sizes(n: FloatArray, column: IntArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Distinct sizes in each column, to two digits, the column, and the groups of each."""
    digit = 10.0 ** np.floor(np.log10(n) - 1)
    pairs, counts = np.unique(
        np.stack([column, np.floor(n / digit) * digit]), axis=1, return_counts=True
    )
    return pairs[1], pairs[0].astype(np.int64), counts.astype(np.float64)
