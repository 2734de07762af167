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
from fairrec.statistics.scores import Spread, others_spread, own_spread, student_scale


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


class Intervals:
    """Intervals of all groups, at any cut-off."""

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self._bounds = moments.bounds[:, None, :]
        self._is_bounded = np.isfinite(moments.bounds).all(axis=1, keepdims=True)
        self._mean = moments.mean[:, None]
        self._own, self._others = own_spread(moments), others_spread(moments)

    def of_values(self, cut_offs: CutOffs) -> Interval:
        """Of the means of groups."""
        return self._one_side(self._moments.n, self._moments.deviation, self._own, cut_offs)

    def of_differences(self, cut_offs: CutOffs) -> Interval:
        """Of the differences between groups and all others."""
        moments, difference = self._moments, self._moments.difference
        own = self._one_side(moments.n, moments.deviation, self._own, cut_offs)
        # a difference is too high where the others are too low
        turned = CutOffs(cut_offs.down, cut_offs.up)
        others = self._one_side(moments.n_others, moments.others_deviation, self._others, turned)
        value, others_value = self._mean + moments.deviation, self._mean + moments.others_deviation
        with np.errstate(invalid="ignore", divide="ignore"):
            newcombe = Interval(
                difference - np.hypot(value - own.low, others.high - others_value),
                difference + np.hypot(own.high - value, others_value - others.low),
            )
            x = self._own.variance * moments.weights.own
            y = self._others.variance * moments.weights.others
            freedom = (x + y) ** 2 / (x**2 / self._own.freedom + y**2 / self._others.freedom)
            error = np.sqrt(x + y)
            welch = Interval(
                difference - student_scale(cut_offs.up, freedom) * error,
                difference + student_scale(cut_offs.down, freedom) * error,
            )
        return Interval(
            *(np.where(self._is_bounded, *ends) for ends in zip(newcombe, welch, strict=True))
        )

    def _one_side(
        self, n: FloatArray, deviation: FloatArray, spread: Spread, cut_offs: CutOffs
    ) -> Interval:
        value = self._mean + deviation
        low, high = self._bounds[..., 0], self._bounds[..., 1]
        with np.errstate(invalid="ignore", divide="ignore"):
            up, down = (student_scale(cut_off, spread.freedom) for cut_off in cut_offs)
            error = np.sqrt(spread.variance / n)
            return Interval(
                np.where(
                    self._is_bounded,
                    _score_end(value, n / spread.dispersion, -up, low, high),
                    value - up * error,
                ),
                np.where(
                    self._is_bounded,
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
