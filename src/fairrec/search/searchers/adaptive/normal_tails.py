"""By how much normal variables exceed a limit: on average, and at a risk."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from fairrec.core.arrays import FloatArray


def improvement(margin: FloatArray, spread: FloatArray) -> FloatArray:
    """Expected positive part of normal variables with these means and standard deviations.

    >>> improvement(np.array([1.0, -1.0]), np.array([0.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    safe = np.where(spread > 0, spread, 1.0)
    z = margin / safe
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return np.where(spread > 0, margin * ndtr(z) + safe * density, np.maximum(margin, 0.0))


def may_exceed(mean: FloatArray, spread: FloatArray, limit: float, risk: float) -> float:
    """The least x such that, with risk at most `risk`, no value is above limit + x.

    The chances of the single values are added up (union bound).

    >>> may_exceed(np.array([0.0]), np.array([1.0]), 0.0, 0.5)
    0.0
    """
    if not len(mean):
        return 0.0

    def total_risk(x: float) -> float:
        return float(ndtr((mean - limit - x) / np.maximum(spread, 1e-300)).sum())

    low, high = 0.0, max(float((mean - limit + 40 * spread).max()), 0.0)
    if total_risk(low) <= risk:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if total_risk(middle) > risk else (low, middle)
    return high
