"""What an audit can be expected to rule out, before anything is measured.

A group without any true difference has an interval around 0 all the same. How wide it will be
follows from the sizes of the groups, and from mean and spread of the metric: the cut-offs that hold
for all groups at once are those of as many independent scores.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from scipy.special import betainc, ndtr, ndtri

from fairrec.core.arrays import FloatArray
from fairrec.metrics.direction import worse_ends
from fairrec.statistics.intervals import CutOffs, Side, difference_interval
from fairrec.statistics.power import POWER
from fairrec.statistics.scores import KNOWN, Everyone, Spread
from fairrec.statistics.simultaneous import (
    DOWN,
    N_CLASSES,
    UP,
    normal_cut_offs,
    size_classes,
    tail_share,
)

MOST_TIMES = 1000
"""Further than that, nobody is told to find more users."""
_GROWTH_STEPS = 300
_STEPS = 30
_LARGEST_SCORE = 40.0
_SKEWED = 1e6
"""A rate of more trials has the tails of a normal variable, as far as it matters here."""


def expected_cut_offs(everyone: Everyone, n_per_group: FloatArray, alpha: float) -> FloatArray:
    """(2, n_classes), the cut-offs up and down of intervals that hold for all groups at once.

    In each class and tail as many scores are expected beyond as the class has of alpha, as if
    groups shared no users and metrics did not go together. Those of an audit have the normal ones
    as their floor. How skewed scores are is known beforehand of rates alone.
    """
    classes = size_classes(n_per_group, np.ones(len(n_per_group), dtype=bool))
    n_groups = np.bincount(classes, minlength=N_CLASSES)
    share = tail_share(n_groups, alpha)
    normal = normal_cut_offs(n_groups * len(everyone.mean), alpha)
    n, counts = _sizes(n_per_group)
    of_size = size_classes(n, np.ones(len(n), dtype=bool))
    cut_offs = np.full((2, N_CLASSES), np.inf)
    for tail, end in ((UP, 1.0), (DOWN, -1.0)):
        low, high = np.zeros(N_CLASSES), np.full(N_CLASSES, _LARGEST_SCORE)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            beyond = sum(
                _tail(everyone, metric, n, middle[of_size], end)
                for metric in range(len(everyone.mean))
            )
            is_too_low = np.bincount(of_size, counts * beyond, N_CLASSES) > share
            low, high = np.where(is_too_low, middle, low), np.where(is_too_low, high, middle)
        cut_offs[tail] = np.maximum(normal, high)
    return cut_offs


def certified_harm(
    everyone: Everyone,
    metric: int,
    n: FloatArray,
    cut_offs: FloatArray,
    higher_is_better: bool | None,
    probability: float,
) -> FloatArray:
    """What is ruled out, with this probability, for groups of `n` users without any difference.

    Parameters
    ----------
    cut_offs : (2, n_classes), NaN comes back where they are infinite
    """
    classes = size_classes(n, np.ones(len(n), dtype=bool))
    up, down = cut_offs[:, classes]
    mean, variance = float(everyone.mean[metric]), float(everyone.variance[metric])
    low, high = bounds = everyone.bounds[metric]
    n_all = np.maximum(float(everyone.n[metric]), n + 1)
    n_others = n_all - n
    # without a worse end, either may be further off than 0 is
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
    n: FloatArray,
    matters: Sequence[float],
    higher_is_better: Sequence[bool | None],
    alpha: float,
) -> FloatArray:
    """(n_metrics, len(n)), how many times as many users it takes to rule out what matters.

    In groups of `n` users today without any difference, with 80% probability, where all groups grow
    alike; to 2%. NaN where up to 1,000 times as many are not enough.

    Parameters
    ----------
    n_per_group : of all groups that are looked at
    matters, higher_is_better : of each metric; NaN where nothing matters
    """

    def times(step: int) -> float:
        return float(MOST_TIMES ** (step / _GROWTH_STEPS))

    @cache
    def cut_offs(step: int) -> FloatArray:
        return expected_cut_offs(_grown(everyone, times(step)), n_per_group * times(step), alpha)

    def is_ruled_out(metric: int, size: float, step: int) -> bool:
        grown, n_grown = _grown(everyone, times(step)), np.array([size * times(step)])
        harm = certified_harm(
            grown, metric, n_grown, cut_offs(step), higher_is_better[metric], POWER
        )
        return bool(harm[0] < matters[metric])

    found = np.full((len(matters), len(n)), np.nan)
    for metric, at in np.ndindex(found.shape):
        # from the first step that is enough on, all are
        step = bisect_left(
            range(_GROWTH_STEPS + 1), True, key=partial(is_ruled_out, metric, float(n[at]))
        )
        if step <= _GROWTH_STEPS:
            found[metric, at] = times(step)
    return found


def _grown(everyone: Everyone, times: float) -> Everyone:
    """The same with so many times as many users."""
    return everyone._replace(n=everyone.n * times)


def _side(everyone: Everyone, metric: int, n: FloatArray, value: FloatArray) -> Side:
    """Users as they are on the whole, with another mean."""
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
    """How often a group of `n` users without any difference has a score beyond this one.

    A rate is skewed: the share of a small group that has a hit can be far above the mean, hardly
    below. It is taken for as many trials as have that skew.
    """
    if not everyone.is_rate[metric]:
        return np.asarray(ndtr(-score))
    low, high = everyone.bounds[metric]
    share = (float(everyone.mean[metric]) - low) / (high - low)
    n_others = np.maximum(float(everyone.n[metric]) - n, 1.0)
    skew = (1 / n - 1 / n_others) / np.sqrt(1 / n + 1 / n_others)
    n_trials = 1 / np.maximum(skew**2, 1 / _SKEWED)
    # among most users, what is seen is that the few others have a hit
    of_tail = np.where((skew > 0) == (end > 0), share, 1 - share)
    needed = n_trials * of_tail + score * np.sqrt(n_trials * share * (1 - share))
    beyond = betainc(np.minimum(needed, n_trials), np.maximum(n_trials - needed, 0.0) + 1, of_tail)
    return np.where(needed > n_trials, 0.0, beyond)


def _sizes(n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Different sizes, and how many groups have each; to two digits, which is near enough.

    Rounded down, so that none leaves its class.
    """
    digit = 10.0 ** np.floor(np.log10(n) - 1)
    sizes, counts = np.unique(np.floor(n / digit) * digit, return_counts=True)
    return sizes, counts.astype(np.float64)
