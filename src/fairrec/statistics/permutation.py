"""The null distribution: values are permuted across users, many times.

A permutation keeps every group's size and every user's values and
breaks only their connection. One shuffle serves all groups and all metrics at once, so the
largest statistic among them gives p-values adjusted for everything that was looked at
(Westfall and Young 1993, single step). Metrics that are undefined for different users share
the shuffled order, each without the users it is undefined for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.threads import map_in_threads
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import Lattice
from fairrec.statistics.draws import PermutedSums
from fairrec.statistics.moments import Moments

ROUNDING = 1e-9
"""Sums in another order differ in the last digits; a tie within this is a tie."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """The observed statistics and their null distribution.

    Parameters
    ----------
    statistic : (n_metrics, n_groups), difference over its chance error; 0 where not tested
    largest : (n_permutations,), largest absolute statistic over all metrics and groups
    gaps : (n_permutations, n_metrics), gap between full combinations; NaN where there are none
    n_reached : (n_metrics, n_groups), permutations at or beyond the observed statistic
    """

    statistic: FloatArray
    largest: FloatArray
    gaps: FloatArray
    n_reached: IntArray

    @property
    def n_permutations(self) -> int:
        """How many there were."""
        return len(self.largest)

    @property
    def p_values(self) -> FloatArray:
        """(n_metrics, n_groups), two-sided, for each group by itself."""
        return (1 + self.n_reached) / (1 + self.n_permutations)

    @property
    def adjusted_p_values(self) -> FloatArray:
        """(n_metrics, n_groups), adjusted for all groups and metrics (Westfall-Young)."""
        ordered = np.sort(self.largest)
        reach = np.abs(self.statistic) * (1 - ROUNDING)
        n_larger = self.n_permutations - np.searchsorted(ordered, reach, side="left")
        return (1 + n_larger) / (1 + self.n_permutations)

    def critical(self, alpha: float) -> float:
        """The absolute statistic from which an adjusted p-value is at most alpha."""
        allowed = int(np.floor(alpha * (1 + self.n_permutations) + ROUNDING)) - 1
        if allowed < 0:
            return np.inf
        return float(np.sort(self.largest)[::-1][allowed])


def gap_p_value(null_gaps: FloatArray, gap: float) -> float:
    """How often the null distribution has a gap at least this large.

    Parameters
    ----------
    null_gaps : (n_permutations,), their null distribution
    """
    n_reached = int((null_gaps >= gap * (1 - ROUNDING)).sum())
    return (1 + n_reached) / (1 + len(null_gaps))


class NullDraw(NamedTuple):
    """What one draw from the null distribution shows.

    Parameters
    ----------
    largest : largest absolute statistic over all metrics and groups
    gaps : (n_metrics,), gap between full combinations
    is_reached : (n_metrics, n_groups), groups whose observed statistic it reaches
    """

    largest: float
    gaps: FloatArray
    is_reached: BoolArray


class NullHypothesis(Protocol):
    """Attributes have nothing to do with the values: what is observed, and draws under it.

    A draw has its own stream of random numbers and is summed in one order, so the numbers do not
    depend on the number of threads.
    """

    statistic: FloatArray

    def draw(self, seed: int, number: int) -> NullDraw:
        """One draw."""


def null_distribution(
    null: NullHypothesis,
    n_permutations: int,
    seed: int,
    threads: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> PermutationTest:
    """The test made of all draws."""
    largest = np.empty(n_permutations)
    gaps = np.empty((n_permutations, len(null.statistic)))
    n_reached = np.zeros(null.statistic.shape, dtype=np.int64)
    draws = map_in_threads(partial(null.draw, seed), range(n_permutations), threads)
    for number, drawn in enumerate(draws):
        largest[number], gaps[number], is_reached = drawn
        n_reached += is_reached
        advance()
    return PermutationTest(null.statistic, largest, gaps, n_reached)


class Permuted:
    """Values are permuted across users.

    Parameters
    ----------
    is_tested : (n_metrics, n_groups), groups with enough users for that metric
    """

    def __init__(self, moments: Moments, grouping: Grouping, is_tested: BoolArray) -> None:
        self._weight = _weights(moments, is_tested)
        self.statistic = moments.total * self._weight
        self._reach = np.abs(self.statistic) * (1 - ROUNDING)
        self._permutations = PermutedSums(moments, grouping.cells)
        self._lattice = grouping.lattice
        self._spread = _Spread(moments, grouping.lattice, is_tested)

    def draw(self, seed: int, number: int) -> NullDraw:
        """One permutation."""
        sums = self._lattice.sums(self._permutations.cell_sums(seed, number))
        shuffled = np.abs(sums * self._weight)
        largest = float(shuffled.max(initial=0.0))
        return NullDraw(largest, self._spread.gaps(sums), shuffled >= self._reach)


def observed_gaps(moments: Moments, lattice: Lattice, is_tested: BoolArray) -> FloatArray:
    """(n_metrics,), largest minus smallest mean over full combinations; NaN where none is."""
    return _Spread(moments, lattice, is_tested).gaps(moments.total)


def _weights(moments: Moments, is_tested: BoolArray) -> FloatArray:
    """What turns a centred sum into a statistic; 0 for groups that are not tested."""
    error = moments.chance_error
    usable = is_tested & (error > 0)
    factor = np.divide(
        moments.n_users[:, None],
        (moments.n_users[:, None] - moments.n) * moments.n,
        out=np.zeros_like(error),
        where=usable,
    )
    return np.divide(factor, error, out=np.zeros_like(error), where=usable)


class _Spread:
    """Gap between full combinations from centred sums."""

    def __init__(self, moments: Moments, lattice: Lattice, is_tested: BoolArray) -> None:
        full = np.flatnonzero(lattice.is_full)
        self.groups = [full[tested[full]] for tested in is_tested]
        self.n = [n[groups] for n, groups in zip(moments.n, self.groups, strict=True)]

    def gaps(self, sums: FloatArray) -> FloatArray:
        return np.array(
            [
                np.ptp(total[groups] / n) if len(groups) else np.nan
                for total, groups, n in zip(sums, self.groups, self.n, strict=True)
            ]
        )
