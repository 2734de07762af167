"""The same users before and after: the mean change, its confidence interval and a test.

Changes are often skewed: many users gain a little and a few lose much. Among a handful of users
none of the few may be, and their changes then look more alike than they are. So a group is never
taken to vary less than all users who changed do, and for a set of users that is all there is to
know of, the test allows for the skewness that is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from fairrec.core.arrays import FloatArray

ROUNDING = 1e-15
"""A variance below this share of the squares is what rounding leaves where all change alike."""

LEAST_SKEWNESS = 1e-6
"""Less changes no digit that is shown, and would be lost in rounding."""


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

    def least_shown(self, level: float) -> FloatArray:
        """The smallest change, up or down, with a p-value of at most this level.

        Infinite where too few users changed for any p-value as small, NaN where nobody changed.
        """
        far = -stdtrit(np.maximum(self.n - 1, 1), level / 2) * self.error
        is_blind = (np.exp2(1 - self.n_changed) > level) | (self.n < 2)
        return np.where(self.n_changed > 0, np.where(is_blind, math.inf, far), math.nan)


@dataclass(frozen=True, slots=True)
class PairedSums:
    """Sums over some groups of users.

    Parameters
    ----------
    n : users with a value before and after
    before, after : sums of these values
    squares : sum of squared changes
    n_changed : users whose value is another
    pooled : sum over these users of the variance among all who changed
    """

    n: FloatArray
    before: FloatArray
    after: FloatArray
    squares: FloatArray
    n_changed: FloatArray
    pooled: FloatArray

    def changes(self, alpha: float | FloatArray, skewness: float = 0.0) -> PairedChanges:
        """Means, intervals and tests from the sums.

        Parameters
        ----------
        alpha : one for all groups, or one for each
        skewness : of the mean change, which is that of the changes over the root of their number
        """
        n = self.n
        degrees = np.maximum(n - 1, 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            before, after = self.before / n, self.after / n
            change = (self.after - self.before) / n
            error = self._error(change)
            t = change / error
            # what allows for skewness is itself uncertain, so it can only weaken what is shown
            shown = np.minimum(np.abs(t), np.sign(t) * _straightened(t, skewness))
            p_value = 2 * stdtr(degrees, -np.maximum(shown, 0))
        far = stdtrit(degrees, 1 - alpha / 2)
        below = np.maximum(far, _bent(far, skewness)) * error
        above = np.maximum(far, -_bent(-far, skewness)) * error
        # two users who change alike have no spread, which proves nothing: of the 2^n ways to turn
        # the signs of n changes, two are as extreme as the most extreme
        least = np.exp2(1 - self.n_changed)
        # there an interval that leaves 0 out would contradict the p-value
        has_none = (n < 2) | ((self.n_changed > 0) & (p_value <= alpha) & (least > alpha))
        low, high = (np.where(has_none, math.nan, end) for end in (change - below, change + above))
        p_value = np.maximum(p_value, least)
        p_value = np.where(self.squares == 0, 1.0, p_value)
        p_value[(n < 2) & (self.squares != 0)] = math.nan
        return PairedChanges(n, before, after, change, error, low, high, p_value, self.n_changed)

    def _error(self, change: FloatArray) -> FloatArray:
        """Standard error of the change by a group's own spread, or by that of all where larger."""
        n = self.n
        variance = np.maximum(self.squares - n * change**2, 0) / (n - 1)
        variance[variance <= ROUNDING * self.squares] = 0.0
        return np.sqrt(np.maximum(variance, self.pooled / n) / n)


def _straightened(t: FloatArray, skewness: float) -> FloatArray:
    """Student's t with the skewness of the mean taken out (Hall 1992); it keeps the order."""
    if not skewness:
        return t
    bend = skewness / 3
    return t + bend * t**2 + bend**2 * t**3 / 3 + skewness / 6


def _bent(t: FloatArray, skewness: float) -> FloatArray:
    """What `_straightened` makes straight."""
    if not skewness:
        return t
    return (np.cbrt(1 + skewness * (t - skewness / 6)) - 1) * 3 / skewness


def paired_sums(before: FloatArray, after: FloatArray) -> tuple[FloatArray, ...]:
    """Per user, in the order of `PairedSums`; all 0 where a value is undefined."""
    known = ~(np.isnan(before) | np.isnan(after))
    first, last = np.where(known, before, 0.0), np.where(known, after, 0.0)
    change = last - first
    is_changed = change != 0
    pooled = np.where(is_changed, _variance(change[is_changed]), 0.0)
    parts = (known.astype(np.float64), first, last, change**2, is_changed.astype(np.float64))
    return (*parts, pooled)


def _variance(changes: FloatArray) -> float:
    """0 for one change alone, and where all are alike up to rounding."""
    variance = float(changes.var(ddof=1)) if len(changes) > 1 else 0.0
    return variance if variance > ROUNDING * (changes**2).sum() else 0.0


def paired_change(before: FloatArray, after: FloatArray, alpha: float) -> PairedChanges:
    """The change of one set of users by itself, as arrays of length 1; it allows for skewness.

    >>> changes = paired_change(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.4, 0.3]), 0.05)
    >>> float(changes.change[0].round(3)), float(changes.p_value[0].round(3))
    (0.1, 0.5)
    """
    parts = paired_sums(before, after)
    known = parts[0] > 0
    sums = PairedSums(*(np.array([part.sum()]) for part in parts))
    return sums.changes(alpha, _skewness_of_mean((parts[2] - parts[1])[known]))


def _skewness_of_mean(changes: FloatArray) -> float:
    """Of the mean over as many users; 0 where they do not differ, and where there is hardly any."""
    if not _variance(changes):
        return 0.0
    centred = changes - changes.mean()
    skewness = float((centred**3).sum() / (centred**2).sum() ** 1.5)
    return skewness if abs(skewness) > LEAST_SKEWNESS else 0.0
