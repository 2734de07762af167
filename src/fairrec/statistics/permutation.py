"""What chance alone would show: attributes are dealt out to users anew, many times.

Dealing the attributes of users anew keeps every group's size and every user's values and
breaks only their connection. One shuffle serves all groups and all metrics at once, so the
largest statistic among them gives p-values adjusted for everything that was looked at
(Westfall and Young 1993, single step). Metrics that are undefined for different users share
the shuffled order, each without the users it is undefined for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import map_in_threads
from fairrec.groups.cells import Cells
from fairrec.groups.lattice import Lattice
from fairrec.statistics.moments import Moments, distinct_masks

ROUNDING = 1e-9
"""Sums in another order differ in the last digits; a tie within this is a tie."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """The observed statistics and their distribution under chance.

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
        """How many times attributes were dealt out."""
        return len(self.largest)

    @property
    def p_values(self) -> FloatArray:
        """(n_metrics, n_groups), two-sided, for each group by itself."""
        return (1 + self.n_reached) / (1 + self.n_permutations)

    @property
    def adjusted_p_values(self) -> FloatArray:
        """(n_metrics, n_groups), adjusted for all groups and metrics of the audit."""
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

    def gap_p_values(self, gaps: FloatArray) -> FloatArray:
        """(n_metrics,), how often chance alone shows a gap at least this large."""
        return np.array(
            [gap_p_value(by_chance, gap) for by_chance, gap in zip(self.gaps.T, gaps, strict=True)]
        )


def gap_p_value(by_chance: FloatArray, gap: float) -> float:
    """How often chance alone shows a gap at least this large.

    Parameters
    ----------
    by_chance : (n_permutations,), gaps under chance
    """
    n_reached = int((by_chance >= gap * (1 - ROUNDING)).sum())
    return (1 + n_reached) / (1 + len(by_chance))


def permutation_test(
    moments: Moments,
    cells: Cells,
    lattice: Lattice,
    is_tested: BoolArray,
    n_permutations: int,
    seed: int,
    threads: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> PermutationTest:
    """Observed statistics and their distribution when attributes are dealt out anew.

    Every permutation has its own stream of random numbers and is summed in one order, so the
    numbers do not depend on the number of threads.

    Parameters
    ----------
    is_tested : (n_metrics, n_groups), groups with enough users for that metric
    """
    weight = _weights(moments, is_tested)
    statistic = moments.total * weight
    reach = np.abs(statistic) * (1 - ROUNDING)
    dealer = _Dealer(moments.centred_per_user, moments.is_defined, cells)
    spread = _Spread(moments, lattice, is_tested)

    def work(number: int) -> tuple[float, FloatArray, BoolArray]:
        sums = lattice.sums(dealer.cell_sums(seed, number))
        shuffled = np.abs(sums * weight)
        return float(shuffled.max(initial=0.0)), spread.gaps(sums), shuffled >= reach

    return collect(statistic, work, n_permutations, threads, advance)


def collect(
    statistic: FloatArray,
    work: Callable[[int], tuple[float, FloatArray, BoolArray]],
    n_permutations: int,
    threads: int,
    advance: Callable[[], None],
) -> PermutationTest:
    """The test made of all permutations.

    Parameters
    ----------
    work : number of a permutation -> its largest statistic, its gaps, and which groups it reaches
    """
    largest = np.empty(n_permutations)
    gaps = np.empty((n_permutations, len(statistic)))
    n_reached = np.zeros(statistic.shape, dtype=np.int64)
    for number, outcome in enumerate(map_in_threads(work, range(n_permutations), threads)):
        largest[number], gaps[number], is_reached = outcome
        n_reached += is_reached
        advance()
    return PermutationTest(statistic, largest, gaps, n_reached)


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


class _Dealer:
    """Deals values out to cells in random order.

    Users whose value is undefined keep out of it: the k-th defined value of the shuffled order
    goes to the k-th place among those with a defined value, so group sizes stay as they are.
    """

    def __init__(self, values: FloatArray, is_defined: BoolArray, cells: Cells) -> None:
        self.n_users, self.n_metrics, self.n_cells = values.shape[1], len(values), len(cells)
        masks, mask_of_metric = distinct_masks(is_defined)
        self.rounds = []
        for number, mask in enumerate(masks):
            bounds = np.concatenate([[0], np.cumsum(cells.sums(mask))]).astype(np.int64)
            metrics = np.flatnonzero(np.array(mask_of_metric) == number)
            for start in range(0, len(metrics), 4):
                four = metrics[start : start + 4]
                # a user's values side by side, so that one look-up brings all four
                rows = np.zeros((self.n_users, 4))
                rows[:, : len(four)] = values[four].T
                self.rounds.append((mask, bounds, four, rows))

    def cell_sums(self, seed: int, number: int) -> FloatArray:
        """(n_metrics, n_cells), sums of the values each cell is dealt."""
        rng = np.random.Generator(np.random.SFC64([seed, number]))
        order = np.arange(self.n_users, dtype=np.int32)
        _shuffle(order, rng.random(len(order)))
        sums = np.empty((self.n_metrics, self.n_cells))
        part = np.empty((4, self.n_cells))
        for is_defined, bounds, metrics, rows in self.rounds:
            dealt = order if is_defined.all() else order[is_defined[order]]
            _deal(dealt, bounds, rows, part)
            sums[metrics] = part[: len(metrics)]
        return sums


@kernel
def _shuffle(order: CodeArray, uniform: FloatArray) -> None:
    """Fisher-Yates, with one uniform number for each place."""
    for place in range(len(order) - 1, 0, -1):
        other = int(uniform[place] * (place + 1))
        order[place], order[other] = order[other], order[place]


@kernel
def _deal(order: CodeArray, bounds: IntArray, rows: FloatArray, sums: FloatArray) -> None:
    """Give each cell as many users as it has places, and sum their four values."""
    for cell in range(len(bounds) - 1):
        a = b = c = d = 0.0
        for place in range(bounds[cell], bounds[cell + 1]):
            user = order[place]
            a += rows[user, 0]
            b += rows[user, 1]
            c += rows[user, 2]
            d += rows[user, 3]
        sums[0, cell], sums[1, cell], sums[2, cell], sums[3, cell] = a, b, c, d
