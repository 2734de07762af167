"""The share of affected users among users drawn at random, and its interval.

Whoever draws users until the share is known within a margin stops sooner where the first of them
happen to be alike, so that an interval for a sample of fixed size is too narrow. Here the chance of
every way in which sampling can end is worked out instead. The interval has all shares under which
neither as few affected users as were seen nor as many would be rarer than alpha / 2: Clopper and
Pearson's for one look, and for several ordered by the share seen, as after a group sequential trial
(Emerson and Fleming 1990).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import betaln, xlog1py, xlogy

from fairrec.core.arrays import FloatArray
from fairrec.statistics.paired import binomial_interval

FIRST = 50
"""Users before a margin is looked at for the first time."""
_HALVINGS = 30
"""Of the range that an end of an interval lies in."""
_NEVER = 1e-9
"""A chance that changes no interval."""


@dataclass(frozen=True, slots=True)
class AffectedShare:
    """Among users drawn at random, how many are affected: Themis' causal score (Galhotra 2017)."""

    n: int
    n_affected: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Of the users looked at."""
        return self.n_affected / max(self.n, 1)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Users drawn at random: all at once, or until the share affected is known within a margin.

    Parameters
    ----------
    n_users : the most there can be
    margin : half the width of an interval that is narrow enough; None for all users at once
    """

    n_users: int
    alpha: float
    margin: float | None = None

    @property
    def looks(self) -> tuple[int, ...]:
        """Users drawn by each look at the margin: half as many again each time.

        >>> Sampling(200, 0.05, margin=0.1).looks, Sampling(200, 0.05).looks
        ((50, 75, 112, 168, 200), (200,))
        """
        if self.margin is None:
            return (self.n_users,)
        ends = [min(self.n_users, FIRST)]
        while ends[-1] < self.n_users:
            ends.append(min(self.n_users, ends[-1] * 3 // 2))
        return tuple(ends)

    def is_enough(self, n: int, n_affected: int) -> bool:
        """Whether sampling ends at a look, by the interval of a sample of that size."""
        if n == self.n_users:
            return True
        low, high = self._fixed(n, n_affected)
        return self.margin is not None and (high - low) / 2 <= self.margin

    def share(self, n: int, n_affected: int) -> AffectedShare:
        """What is known where sampling ended.

        >>> found = Sampling(4, 0.05).share(4, 1)
        >>> found.share, round(found.low, 4), round(found.high, 4)
        (0.25, 0.0063, 0.8059)
        """
        if self.margin is None:
            return AffectedShare(n, n_affected, *self._fixed(n, n_affected))
        # sampling ends alike for many who are affected and for as few
        low = 1 - self._high(n, n - n_affected)
        return AffectedShare(n, n_affected, low, self._high(n, n_affected))

    def _fixed(self, n: int, n_affected: int) -> tuple[float, float]:
        """The interval of a sample of fixed size."""
        low, high = binomial_interval(np.array(n), np.array(n_affected), self.alpha)
        return float(low), float(high)

    def _high(self, n: int, n_affected: int) -> float:
        """The largest share under which as small a share is seen often enough."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS if n_affected < n else 0):
            middle = (low + high) / 2
            if self._chance_of_less(n, n_affected, middle) > self.alpha / 2:
                low = middle
            else:
                high = middle
        return high

    def _chance_of_less(self, n: int, n_affected: int, share: float) -> float:
        """How often sampling ends with at most this part of users affected, under a true share."""
        # by the number affected: how likely sampling has come so far
        going, before, total = np.ones(1), 0, 0.0
        for users, most in self._ends():
            going = _convolved(going, _binomial(users - before, share))
            affected = np.arange(users + 1)
            is_end = np.minimum(affected, users - affected) <= most
            total += going[is_end & (affected * n <= n_affected * users)].sum()
            going[is_end] = 0
            before = users
            if going.sum() < _NEVER:
                break
        return total

    def _ends(self) -> Iterator[tuple[int, int]]:
        """Looks at which sampling can end, and the most affected, or not, of whom it does."""
        for users in self.looks:
            half = range(users // 2 + 1)
            # the nearer to half of them, the wider the interval
            most = bisect_right(half, False, key=lambda n: not self.is_enough(users, n)) - 1
            if most >= 0:
                yield users, most
            if most == half[-1]:
                return


def _binomial(n: int, share: float) -> FloatArray:
    """(n + 1,), how likely each number of n is."""
    hits = np.arange(n + 1)
    log_orders = -np.log1p(n) - betaln(n - hits + 1, hits + 1)
    return np.asarray(np.exp(log_orders + xlogy(hits, share) + xlog1py(n - hits, -share)))


def _convolved(a: FloatArray, b: FloatArray) -> FloatArray:
    size = len(a) + len(b) - 1
    fast = next_fast_len(size, real=True)
    return np.asarray(irfft(rfft(a, fast) * rfft(b, fast), fast)[:size])
