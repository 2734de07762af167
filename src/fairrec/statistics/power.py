"""The power of an audit: the smallest true harm that it would show."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr, bdtrc, ndtr

from fairrec.core.arrays import FloatArray
from fairrec.metrics.direction import worse_ends
from fairrec.statistics.scores import Everyone, student_scale
from fairrec.statistics.simultaneous import DOWN, UP

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
    """The smallest true harm of groups of `n` users that is shown with 80% probability.

    NaN where even the largest possible harm would be missed: nobody can be worse than the worst
    value of a metric.

    Parameters
    ----------
    critical : (2,) or (2, n_groups), score up and down beyond which a group is significant
    higher_is_better : where neither end is better, the larger harm of both ends
    n_others : users each is compared with; where that is not said, all others
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
    # an infinite cut-off or a metric without spread shows nothing
    if variance == 0:
        return np.full(n.shape, np.nan)
    largest = (high - mean) if end > 0 else (mean - low)
    if not np.isfinite(largest):
        largest = 1000 * np.sqrt(variance)
    chance_error = np.sqrt(variance * (1 / n + 1 / n_others))
    is_rate = bool(everyone.is_rate[metric])
    # by its own error a group of few users must stand out further
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
