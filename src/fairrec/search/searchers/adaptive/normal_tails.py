"""By how much normal variables exceed a limit: on average, and at a risk."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from fairrec.core.arrays import FloatArray
from fairrec.core.kernels import kernel

FAR = -8.0
"""Standard deviations below a limit from which on nothing is expected above it."""


def improvement(margin: FloatArray, spread: FloatArray) -> FloatArray:
    """Expected positive part of normal variables with these means and standard deviations.

    >>> improvement(np.array([1.0, -1.0]), np.array([0.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    safe = np.where(spread > 0, spread, 1.0)
    z = margin / safe
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return np.where(spread > 0, margin * ndtr(z) + safe * density, np.maximum(margin, 0.0))


@kernel
def improvement_of(margin: float, spread: float) -> float:
    """The same for one variable, where many are asked for one at a time."""
    if spread <= 0:
        return max(margin, 0.0)
    z = margin / spread
    if z < FAR:
        return 0.0
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return max(margin * math.erfc(-z * math.sqrt(0.5)) / 2 + spread * density, 0.0)


def risk_beyond(mean: FloatArray, spread: FloatArray, limit: float) -> float:
    """The chances that single values are above a limit, added up.

    >>> risk_beyond(np.array([0.0, 1.0]), np.array([1.0, 2.0]), 1.0)
    0.6586552539314571
    """
    return float(ndtr((mean - limit) / np.maximum(spread, 1e-300)).sum())


def may_exceed(mean: FloatArray, spread: FloatArray, limit: float, risk: float) -> float:
    """The least x such that, with risk at most `risk`, no value is above limit + x.

    >>> may_exceed(np.array([0.0]), np.array([1.0]), 0.0, 0.5)
    0.0
    """
    if not len(mean) or risk_beyond(mean, spread, limit) <= risk:
        return 0.0
    low, high = 0.0, max(float((mean - limit + 40 * spread).max()), 0.0)
    for _ in range(60):
        middle = (low + high) / 2
        is_risky = risk_beyond(mean, spread, limit + middle) > risk
        low, high = (middle, high) if is_risky else (low, middle)
    return high
