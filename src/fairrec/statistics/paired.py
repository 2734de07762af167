"""The same users before and after: the mean change, its interval and a test against no change."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from fairrec.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class PairedChanges:
    """Changes of several groups of users; all arrays have one entry a group.

    Parameters
    ----------
    n : users with a value before and after
    before, after : means over these users, NaN without any
    low, high : interval of the change at confidence 1 - alpha, NaN below two users
    p_value : of no change, two-sided (Student's t on the changes of users); 1 where nobody changed
    """

    n: FloatArray
    before: FloatArray
    after: FloatArray
    change: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray


@dataclass(frozen=True, slots=True)
class PairedSums:
    """Count, sums before and after, and sum of squared changes of some groups of users."""

    n: FloatArray
    before: FloatArray
    after: FloatArray
    squares: FloatArray

    def changes(self, alpha: float) -> PairedChanges:
        """Means, intervals and tests from the sums."""
        n = self.n
        with np.errstate(invalid="ignore", divide="ignore"):
            before, after = self.before / n, self.after / n
            change = (self.after - self.before) / n
            variance = np.maximum(self.squares - n * change**2, 0) / (n - 1)
            # a rest of rounding where all users change alike
            variance[variance <= 1e-15 * self.squares] = 0.0
            error = np.sqrt(variance / n)
            reach = stdtrit(np.maximum(n - 1, 1), 1 - alpha / 2) * error
            t = np.abs(change) / error
            p_value = 2 * stdtr(np.maximum(n - 1, 1), -t)
        p_value = np.where(self.squares == 0, 1.0, p_value)
        is_single = n < 2
        reach[is_single] = math.nan
        p_value[is_single & (self.squares != 0)] = math.nan
        return PairedChanges(n, before, after, change, change - reach, change + reach, p_value)


def paired_sums(before: FloatArray, after: FloatArray) -> tuple[FloatArray, ...]:
    """Per user: 1, before, after and the squared change; all 0 where one is undefined."""
    known = ~(np.isnan(before) | np.isnan(after))
    first, last = np.where(known, before, 0.0), np.where(known, after, 0.0)
    return known.astype(np.float64), first, last, (last - first) ** 2


def paired_change(before: FloatArray, after: FloatArray, alpha: float) -> PairedChanges:
    """The change of one group of users, as arrays of length 1.

    >>> changes = paired_change(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.4, 0.3]), 0.05)
    >>> float(changes.change[0].round(3)), float(changes.p_value[0].round(3))
    (0.1, 0.225)
    """
    sums = (np.array([part.sum()]) for part in paired_sums(before, after))
    return PairedSums(*sums).changes(alpha)
