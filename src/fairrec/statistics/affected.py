"""The share of users for whom something changes the outcome, with its confidence bound."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from fairrec.core.arrays import FloatArray
from fairrec.statistics.intervals import score_interval

FIRST = 50
"""Users before a margin is looked at for the first time."""


@dataclass(frozen=True, slots=True)
class AffectedShare:
    """Among users drawn at random, how many are affected: Themis' causal score (Galhotra 2017).

    Parameters
    ----------
    low, high : Wilson's interval, which also holds where nobody is affected
    """

    n: int
    n_affected: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Of the users looked at."""
        return self.n_affected / max(self.n, 1)

    @property
    def margin(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def affected_share(values: FloatArray, alpha: float) -> AffectedShare:
    """The share of ones among values of ones and zeros; NaN counts for nothing.

    >>> found = affected_share(np.array([1.0, 0.0, 0.0, 0.0, np.nan]), 0.05)
    >>> found.n, found.share, round(found.low, 3), round(found.high, 3)
    (4, 0.25, 0.046, 0.699)
    """
    known = values[~np.isnan(values)]
    n, hits = len(known), int((known > 0).sum())
    if not n:
        return AffectedShare(0, 0, 0.0, 1.0)
    squares = np.array([ndtri(1 - alpha / 2) ** 2 / n])
    low, high = score_interval(np.array([hits / n]), squares, 1.0)
    return AffectedShare(n, hits, float(low[0]), float(high[0]))


def batches(n_users: int, is_adaptive: bool) -> list[slice]:
    """Users between two looks at the margin: half as many again each time, or all at once."""
    if not is_adaptive:
        return [slice(0, n_users)]
    ends = [0]
    while ends[-1] < n_users:
        ends.append(min(n_users, max(FIRST, ends[-1] * 3 // 2)))
    return [slice(start, stop) for start, stop in pairwise(ends)]
