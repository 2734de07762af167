"""Quantiles of values that many users share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.core.arrays import FloatArray


def quantiles(values: FloatArray, n: FloatArray, shares: Sequence[float]) -> FloatArray:
    """Those of the values of all users, `n` of whom have each value.

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
