"""Each group's value and difference: with confidence intervals, and as far as it is to be kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from fairrec.core.arrays import FloatArray
from fairrec.statistics.intervals import CutOffs, Interval, Intervals
from fairrec.statistics.moments import Moments
from fairrec.statistics.scores import Spread, scores_of
from fairrec.statistics.shrinkage import kept_shares


@dataclass(frozen=True, slots=True)
class Estimates:
    """Arrays of shape (n_metrics, n_groups); NaN where undefined.

    Parameters
    ----------
    value, value_low, value_high : means of groups, with intervals for one group at a time
    raw_difference : from all others, whatever the strata
    difference, difference_low, difference_high : within strata, one group at a time
    simultaneous : intervals of the differences that hold for all groups and metrics at once
    shrunken, shrunken_difference : drawn to the mean of all, to be expected of new data
    """

    value: FloatArray
    value_low: FloatArray
    value_high: FloatArray
    raw_difference: FloatArray
    difference: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray
    simultaneous: Interval
    shrunken: FloatArray
    shrunken_difference: FloatArray


def estimate(
    moments: Moments,
    alpha: float,
    cut_offs: CutOffs | None = None,
    raw: Moments | None = None,
    extremes: FloatArray | None = None,
    own: Spread | None = None,
) -> Estimates:
    """Estimates of each group with confidence intervals at 1 - alpha.

    Parameters
    ----------
    cut_offs : of simultaneous intervals; None where there are none
    raw : the moments without strata
    extremes : as of `Intervals.of_differences`, for those that hold for all groups at once
    own : spread of groups in the intervals of differences, where it is guarded
    """
    raw = raw or moments
    one = np.full((1, 1), ndtri(1 - alpha / 2))
    unlimited = np.full((1, 1), np.inf)
    intervals = Intervals(moments, own)
    values = Intervals(raw).of_values(CutOffs(one, one))
    differences = _possible(intervals.of_differences(CutOffs(one, one)), raw)
    at_once = intervals.of_differences(cut_offs or CutOffs(unlimited, unlimited), extremes)
    # adding the mean back may leave a mean of zeros a hair below 0
    value = np.clip(raw.mean[:, None] + raw.deviation, raw.bounds[:, :1], raw.bounds[:, 1:])
    found = Estimates(
        value=value,
        value_low=values.low,
        value_high=values.high,
        raw_difference=raw.difference,
        difference=moments.difference,
        difference_low=differences.low,
        difference_high=differences.high,
        simultaneous=_possible(at_once, raw),
        shrunken=value,
        shrunken_difference=moments.difference,
    )
    return shrunken_by(found, raw, _error_among(moments))


def shrunken_by(found: Estimates, raw: Moments, error: FloatArray) -> Estimates:
    """The same, shrunken by how far differences may be off.

    Parameters
    ----------
    error : (n_metrics, n_groups), standard errors of the differences
    """
    kept = np.array([kept_shares(*row) for row in zip(found.difference, error, strict=True)])
    kept = kept.reshape(error.shape)
    return replace(
        found,
        shrunken=raw.mean[:, None] + raw.deviation * kept,
        shrunken_difference=found.difference * kept,
    )


def _possible(interval: Interval, raw: Moments) -> Interval:
    """No two means are further apart than the bounds of a metric, also within strata."""
    width = (raw.bounds[:, 1] - raw.bounds[:, 0])[:, None]
    return Interval(np.maximum(interval.low, -width), np.minimum(interval.high, width))


def _error_among(moments: Moments) -> FloatArray:
    """(n_metrics, n_groups), the error by which each group stands out among all."""
    larger = np.abs(scores_of(moments).smaller)
    difference = np.abs(np.nan_to_num(moments.difference))
    error: FloatArray = moments.chance_error.copy()
    np.divide(difference, larger, out=error, where=larger > 0)
    return error
