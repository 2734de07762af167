"""Confidence intervals of group values and of their differences from all others.

A value between two bounds has a score interval: all means from which the observed one is no
further than the cut-off, each with the variance it would have (Wilson 1927; for metrics that are
no rates with the group's dispersion). Differences combine the intervals of both sides
(Newcombe 1998). Metrics without bounds have Welch's interval. The cut-offs are those of a normal
variable, put on Student's scale by the degrees of freedom of the spread; one pair serves one group
at a time, the pairs of `simultaneous` all of them at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.statistics.moments import Moments
from fairrec.statistics.scores import Spread, others_spread, own_error, own_spread, student_scale


class Interval(NamedTuple):
    """Both ends; (n_metrics, n_groups) each."""

    low: FloatArray
    high: FloatArray


class CutOffs(NamedTuple):
    """Normal scores that chance does not exceed upwards and downwards; broadcast to groups.

    An estimate that is too high by chance sets the lower end.
    """

    up: FloatArray
    down: FloatArray


class Side(NamedTuple):
    """A group, or all others; (n_metrics, n_groups) each.

    Parameters
    ----------
    weight : what multiplies the variance of a value in that of a difference; 1/n in one stratum
    """

    n: FloatArray
    value: FloatArray
    spread: Spread
    weight: FloatArray


class Intervals:
    """Intervals of all groups, at any cut-off."""

    def __init__(self, moments: Moments) -> None:
        mean, weights = moments.mean[:, None], moments.weights
        self._bounds = moments.bounds[:, None, :]
        self._difference = moments.difference
        self._own = Side(moments.n, mean + moments.deviation, own_spread(moments), weights.own)
        self._others = Side(
            moments.n_others,
            mean + moments.others_deviation,
            others_spread(moments),
            weights.others,
        )

    def of_values(self, cut_offs: CutOffs) -> Interval:
        """Of the means of groups."""
        return _value_interval(self._own, self._bounds, cut_offs)

    def of_differences(self, cut_offs: CutOffs) -> Interval:
        """Of the differences between groups and all others."""
        return difference_interval(
            self._own, self._others, self._difference, self._bounds, cut_offs
        )


def difference_interval(
    own: Side, others: Side, difference: FloatArray, bounds: FloatArray, cut_offs: CutOffs
) -> Interval:
    """Of the difference between two sides.

    Parameters
    ----------
    bounds : (..., 2), lowest and highest value of the metric
    """
    own_ends = _value_interval(own, bounds, cut_offs)
    # a difference is too high where the others are too low
    others_ends = _value_interval(others, bounds, CutOffs(cut_offs.down, cut_offs.up))
    with np.errstate(invalid="ignore", divide="ignore"):
        newcombe = Interval(
            difference - np.hypot(own.value - own_ends.low, others_ends.high - others.value),
            difference + np.hypot(own_ends.high - own.value, others.value - others_ends.low),
        )
        error, freedom = own_error(own.spread, others.spread, own.weight, others.weight)
        welch = Interval(
            difference - student_scale(cut_offs.up, freedom) * error,
            difference + student_scale(cut_offs.down, freedom) * error,
        )
    is_bounded = np.isfinite(bounds).all(axis=-1)
    return Interval(*(np.where(is_bounded, *ends) for ends in zip(newcombe, welch, strict=True)))


def _value_interval(side: Side, bounds: FloatArray, cut_offs: CutOffs) -> Interval:
    n, value, spread, _ = side
    low, high = bounds[..., 0], bounds[..., 1]
    is_bounded = np.isfinite(bounds).all(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        up, down = (student_scale(cut_off, spread.freedom) for cut_off in cut_offs)
        error = np.sqrt(spread.variance / n)
        return Interval(
            np.where(
                is_bounded,
                _score_end(value, n / spread.dispersion, -up, low, high),
                value - up * error,
            ),
            np.where(
                is_bounded,
                _score_end(value, n / spread.dispersion, down, low, high),
                value + down * error,
            ),
        )


def _score_end(
    value: FloatArray, n: FloatArray, score: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """The mean that lies `score` of its own standard errors above the observed one (Wilson).

    Parameters
    ----------
    n : users a rate would need to be known as well
    """
    share = np.clip((value - low) / (high - low), 0.0, 1.0)
    ratio = score**2 / n
    half = np.sqrt(ratio * share * (1 - share) + ratio**2 / 4)
    end = (share + ratio / 2 + np.sign(score) * half) / (1 + ratio)
    # a cut-off without limit excludes nothing
    end = np.where(np.isinf(ratio), (np.sign(score) + 1) / 2, end)
    return np.asarray(low + (high - low) * np.clip(end, 0.0, 1.0))
