"""Confidence intervals of a mean that cannot be negative, and of the ratio of two of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from fairrec.core.arrays import FloatArray
from fairrec.statistics.intervals import Interval, score_interval

PRIOR_USERS = 4
"""Weight, in users, of the spread of everyone in the spread of one group."""


@dataclass(frozen=True, slots=True)
class Means:
    """The means of some groups, and what their intervals need.

    Parameters
    ----------
    n, mean, squares : (n_groups,), users, mean, and squared deviations from it summed up
    spread : of everyone: variance over mean * (1 - mean / most); for a rate that is `most`
    most : the largest value there can be; infinite where there is no such value
    is_rate : whether all values are 0 or `most`
    """

    n: FloatArray
    mean: FloatArray
    squares: FloatArray
    spread: float
    most: float
    is_rate: bool

    def limits(self, tail: float) -> Interval:
        """Both ends of each mean's interval, beyond each of which it lies with probability `tail`.

        Wilson's score interval. A mean of other values than 0 and 1 is taken for a rate among as
        many users as give it the same variance; it has Student's quantile, and its spread is that
        of the group with a few users of everyone's, but never less than everyone's: in a group
        that saw none of the rare large values they are missing from its spread as well.
        """
        if self.is_rate:
            return score_interval(self.mean, self.spread * ndtri(1 - tail) ** 2 / self.n, self.most)
        freedom = np.maximum(self.n - 1, 1)
        of_mean = self.mean * (1 - self.mean / self.most)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = (self.squares / of_mean + PRIOR_USERS * self.spread) / (freedom + PRIOR_USERS)
            spread = np.fmax(np.where(of_mean > 0, own, self.spread), self.spread)
            squares = spread * stdtrit(freedom, 1 - tail) ** 2 / self.n
            return score_interval(self.mean, squares, self.most)


def ratio_limits(
    mean: FloatArray, limits: Interval, other: FloatArray, other_limits: Interval
) -> Interval:
    """Both ends of the interval of `mean / other`, from the intervals of the two.

    Donner and Zou's method of variance estimates recovery (2012), which needs no logarithm and so
    no group without a zero. The upper end is infinite where the other mean may be 0.
    """
    product = mean * other
    (low, high), (other_low, other_high) = limits, other_limits
    below, above = low * (2 * mean - low), high * (2 * mean - high)
    other_below = other_low * (2 * other - other_low)
    other_above = other_high * (2 * other - other_high)
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = below / (product + np.sqrt(np.maximum(product**2 - below * other_above, 0)))
        root = np.sqrt(np.maximum(product**2 - above * other_below, 0))
        upper = np.where(other_below > 0, (product + root) / other_below, np.inf)
    return Interval(np.where(below > 0, lower, 0.0), upper)
