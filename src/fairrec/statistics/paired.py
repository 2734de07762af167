"""The same users before and after: the mean change, its confidence interval and a test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from fairrec.core.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class PairedChanges:
    """Changes of several groups of users; all arrays have one entry a group.

    Parameters
    ----------
    n : users with a value before and after
    before, after : means over these users, NaN without any
    error : standard error of the change, NaN below two users
    low, high : confidence interval of the change at 1 - alpha, NaN below two users and where
        too few users changed for one
    p_value : of no change, two-sided (Student's t on the changes of users); 1 where nobody changed,
        and never below what turning the signs of the changes could show
    n_changed : users whose value is another
    """

    n: FloatArray
    before: FloatArray
    after: FloatArray
    change: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    n_changed: FloatArray


@dataclass(frozen=True, slots=True)
class PairedSums:
    """Sums over some groups of users.

    Parameters
    ----------
    n : users with a value before and after
    before, after : sums of these values
    squares : sum of squared changes
    n_changed : users whose value is another
    """

    n: FloatArray
    before: FloatArray
    after: FloatArray
    squares: FloatArray
    n_changed: FloatArray

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
        # two users who change alike have no spread, which proves nothing: of the 2^n ways to turn
        # the signs of n changes, two are as extreme as the most extreme
        least = np.exp2(1 - self.n_changed)
        # there an interval that leaves 0 out would contradict the p-value
        reach[(self.n_changed > 0) & (p_value <= alpha) & (least > alpha)] = math.nan
        p_value = np.maximum(p_value, least)
        p_value = np.where(self.squares == 0, 1.0, p_value)
        is_single = n < 2
        reach[is_single] = math.nan
        p_value[is_single & (self.squares != 0)] = math.nan
        low, high = change - reach, change + reach
        return PairedChanges(n, before, after, change, error, low, high, p_value, self.n_changed)


def paired_sums(before: FloatArray, after: FloatArray) -> tuple[FloatArray, ...]:
    """Per user, in the order of `PairedSums`; all 0 where a value is undefined."""
    known = ~(np.isnan(before) | np.isnan(after))
    first, last = np.where(known, before, 0.0), np.where(known, after, 0.0)
    changed = (last != first).astype(np.float64)
    return known.astype(np.float64), first, last, (last - first) ** 2, changed


def paired_change(before: FloatArray, after: FloatArray, alpha: float) -> PairedChanges:
    """The change of one group of users, as arrays of length 1.

    >>> changes = paired_change(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.4, 0.3]), 0.05)
    >>> float(changes.change[0].round(3)), float(changes.p_value[0].round(3))
    (0.1, 0.5)
    """
    sums = (np.array([part.sum()]) for part in paired_sums(before, after))
    return PairedSums(*sums).changes(alpha)
