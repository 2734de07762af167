"""How much of the others' value a group lacks: its harm as a share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray
from fairrec.statistics.intervals import Interval

FAR = 6.0
"""Standard errors by which the mean of all others may be off: the chance that it is further is
nothing beside any alpha, even for a million groups."""


class Lacking(NamedTuple):
    """What groups lack, with an interval; `is_sure` where that says anything."""

    size: FloatArray
    interval: Interval
    is_sure: BoolArray


def lacking(
    harm: FloatArray, interval: Interval, others: FloatArray, error: FloatArray, is_gain: bool
) -> Lacking:
    """The share of the others' value that each group lacks: 0.2 where it has 0.8 of it.

    The ends of its interval are those of the harm, over the mean of all others at its most
    unfavourable, so that they hold for all groups at once where those of the harm do.

    Parameters
    ----------
    harm, interval : of each group
    others, error : the mean of all others, and its standard error at most
    is_gain : whether more of the value is better; else a group lacks what the others have less of
    """
    least, most = others - FAR * error, others + FAR * error

    def share(size: FloatArray, beside: FloatArray) -> FloatArray:
        return size / (beside if is_gain else beside + size)

    low, high = interval.low, interval.high
    is_sure = (least > 0) & np.isfinite(low) & np.isfinite(high)
    if not is_gain:
        is_sure &= least + low > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        # a harm weighs most beside little, and a benefit beside much
        ends = (
            share(low, np.where(low > 0, most, least)),
            share(high, np.where(high > 0, least, most)),
        )
        size = share(harm, others)
    bounds = (
        np.where(is_sure, end, limit) for end, limit in zip(ends, (-np.inf, np.inf), strict=True)
    )
    return Lacking(size, Interval(*bounds), is_sure)
