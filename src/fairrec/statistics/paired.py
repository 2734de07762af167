"""The same users before and after: mean changes of all users and of groups, intervals and tests.

Changes are often skewed: many users gain a little and a few lose much, and a small group may have
none of the few. So a group has at least the spread of all users who changed, and a single set of
users is tested with its skewness taken out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betaincinv, stdtr, stdtrit

from fairrec.core.arrays import FloatArray
from fairrec.groups.grouping import Grouping
from fairrec.metrics.direction import harm
from fairrec.statistics.scores import Spread, own_error
from fairrec.statistics.simultaneous import holm

ROUNDING = 1e-15
"""A variance below this share of the squares is a rounding error."""

LEAST_SKEWNESS = 1e-6
"""Less has no effect beyond rounding."""


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
    p_value : of no change, two-sided (Student's t), 1 without any change, and never below that of
        flipping the signs of the changes
    n_changed : users whose value changed
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
    n_changed : users whose value changed
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
        skewness : of the mean change
        """
        n = self.n
        degrees = np.maximum(n - 1, 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            before, after = self.before / n, self.after / n
            change = (self.after - self.before) / n
            error = self._error(change)
            t = change / error
            # the correction for skewness is uncertain, so it may only increase p-values
            shown = np.minimum(np.abs(t), np.sign(t) * _straightened(t, skewness))
            p_value = 2 * stdtr(degrees, -np.maximum(shown, 0))
        far = stdtrit(degrees, 1 - alpha / 2)
        below = np.maximum(far, _bent(far, skewness)) * error
        above = np.maximum(far, -_bent(-far, skewness)) * error
        # of the 2^n ways to flip the signs of n changes, two are as extreme as equal signs
        least = np.exp2(1 - self.n_changed)
        # an interval that excludes 0 would contradict that p-value
        has_none = (n < 2) | ((self.n_changed > 0) & (p_value <= alpha) & (least > alpha))
        low, high = (np.where(has_none, math.nan, end) for end in (change - below, change + above))
        p_value = np.maximum(p_value, least)
        p_value = np.where(self.squares == 0, 1.0, p_value)
        p_value[(n < 2) & (self.squares != 0)] = math.nan
        return PairedChanges(n, before, after, change, error, low, high, p_value, self.n_changed)

    def _error(self, change: FloatArray) -> FloatArray:
        """Standard error of the change, by a group's own spread or that of all if larger."""
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
    """The inverse of `_straightened`."""
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
    """The variance; 0 of a single change, and of equal ones up to rounding."""
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
    """The skewness of the mean change; 0 where it is negligible."""
    if not _variance(changes):
        return 0.0
    centred = changes - changes.mean()
    skewness = float((centred**3).sum() / (centred**2).sum() ** 1.5)
    return skewness if abs(skewness) > LEAST_SKEWNESS else 0.0


ChangeVerdict = Literal["improved", "worse", "changed", "not significant", "unchanged"]
"""Changed: significantly, in a metric of which neither end is better, or in a distance."""


def change_verdict(
    change: float, p_value: float, higher_is_better: bool | None, alpha: float
) -> ChangeVerdict:
    """The verdict about a change, at the significance level alpha."""
    if not change:
        return "unchanged"
    if not p_value <= alpha:
        return "not significant"
    if higher_is_better is None:
        return "changed"
    return "worse" if harm(change, higher_is_better) > 0 else "improved"


def group_sums(before: FloatArray, after: FloatArray, grouping: Grouping) -> PairedSums:
    """Sums over every group of the lattice, for one metric of users."""
    parts = paired_sums(before, after)
    per_cell = np.stack([grouping.cells.sums(part) for part in parts])
    return PairedSums(*grouping.lattice.sums(per_cell))


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """Every group before and after, for every metric.

    Parameters
    ----------
    metrics : name -> whether higher is better, None where neither end is
    changes : one entry a metric, each with one entry a group
    p_adjusted : (n_metrics, n_groups), adjusted for all groups and metrics (Holm)
    """

    metrics: Mapping[str, bool | None]
    grouping: Grouping
    changes: tuple[PairedChanges, ...]
    p_adjusted: FloatArray
    alpha: float

    @property
    def n_tests(self) -> int:
        """The number of groups and metrics with a change."""
        return int(sum((part.n_changed > 0).sum() for part in self.changes))

    def verdicts(self, metric: int) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        """(n_groups,), the verdict about the change of each group."""
        changes = self.changes[metric]
        higher_is_better = [*self.metrics.values()][metric]
        return np.array(
            [
                change_verdict(float(change), float(p), higher_is_better, self.alpha)
                for change, p in zip(changes.change, self.p_adjusted[metric], strict=True)
            ],
            dtype=np.str_,
        )


def group_changes(
    metrics: Mapping[str, bool | None],
    before: FloatArray,
    after: FloatArray,
    grouping: Grouping,
    alpha: float,
) -> GroupChanges:
    """Changes of all groups.

    Parameters
    ----------
    metrics : name -> whether higher is better
    before, after : (n_metrics, n_users)
    """
    changes = tuple(
        group_sums(first, last, grouping).changes(alpha)
        for first, last in zip(before, after, strict=True)
    )
    p_values = np.stack([part.p_value for part in changes])
    # a group without any change was not tested
    is_tested = np.stack([part.n_changed > 0 for part in changes]) & ~np.isnan(p_values)
    adjusted = np.where(np.isnan(p_values), np.nan, 1.0)
    adjusted[is_tested] = holm(p_values[is_tested])
    return GroupChanges(metrics, grouping, changes, adjusted, alpha)


def change_of_means(
    before: tuple[float, float, float], after: tuple[float, float, float], alpha: float
) -> PairedChanges:
    """The change of one mean by other users, as arrays of length 1 (Welch).

    Parameters
    ----------
    before, after : number of users, mean and standard deviation
    """
    (n, first, sd), (n_after, last, sd_after) = (np.array([part]).T for part in (before, after))
    ones = Spread(sd**2, np.zeros(1), np.maximum(n - 1, 1.0))
    others = Spread(sd_after**2, np.zeros(1), np.maximum(n_after - 1, 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        error, freedom = own_error(ones, others, 1 / n, 1 / n_after)
    # two constants have no error, and so no degrees of freedom
    freedom = np.nan_to_num(freedom, nan=1.0)
    change = last - first
    with np.errstate(invalid="ignore", divide="ignore"):
        p_value = np.where(change == 0, 1.0, 2 * stdtr(freedom, -np.abs(change / error)))
    far = stdtrit(freedom, 1 - alpha / 2) * error
    low, high = change - far, change + far
    return PairedChanges(n_after, first, last, change, error, low, high, p_value, n_after)


def binomial_interval(
    n: FloatArray, hits: FloatArray, alpha: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Both ends of the interval of a share, from the hits of `n` draws (Clopper, Pearson 1934)."""
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, alpha / 2), 0.0)
    high = np.where(hits < n, betaincinv(hits + 1, np.maximum(n - hits, 1), 1 - alpha / 2), 1.0)
    return low, high
