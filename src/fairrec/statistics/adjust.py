"""P-values adjusted for the number of groups looked at."""

from __future__ import annotations

import math

import numpy as np

from fairrec.core.arrays import FloatArray

_ROUNDING = 1e-9
"""1 / 0.07 may be a hair above what it is."""


def least_permutations(alpha: float) -> int:
    """The fewest permutations that can give a p-value of alpha.

    >>> least_permutations(0.05), least_permutations(0.01)
    (19, 99)
    """
    return math.ceil(1 / alpha - _ROUNDING) - 1


def holm(p_values: FloatArray) -> FloatArray:
    """Adjusted p-values that bound the family-wise error rate (Holm 1979).

    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    adjusted = np.empty_like(p_values)
    n_left = np.arange(len(p_values), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * n_left), 1)
    return adjusted
