"""The null distribution: values are permuted, or drawn again where only some users are scored.

A permutation keeps every group's size and every user's values and breaks their connection. One
shuffle serves all groups and metrics, so the largest statistic among them gives p-values adjusted
for all (Westfall and Young 1993, single step). With strata, values stay in theirs.

The users that a search scores depend on earlier values, so these cannot simply be permuted. But the
reference sample was drawn before, and a fully scored group has all its values: under the null
hypothesis both are draws from one distribution. It is estimated by all scored users, who are spread
wider where the search preferred extremes, which makes the test conservative. So values are drawn
from them with replacement for every user, every group is tested both by all its users and by its
part of the sample, and the largest statistic among all of them gives adjusted p-values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from fairrec.core.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import map_in_threads
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import Lattice
from fairrec.statistics.draws import CellSums, ResampledSums, choose_draws
from fairrec.statistics.moments import Moments, Sample
from fairrec.statistics.scores import (
    Compared,
    Scores,
    Sums,
    compute_scores,
    guard_spread,
    maxima,
    own_spread,
    prepare_comparison,
    summarise_everyone,
)
from fairrec.statistics.simultaneous import (
    Columns,
    NullColumns,
    form_columns,
    harm_shares,
    interval_cut_offs,
    interval_p_values,
)

BLOCK = 50
"""Permutations that a worker draws at a time."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """The observed scores and their null distribution.

    A group is tested by the smaller of its two scores against the largest such score of each draw
    in the column of its metric and depth. Intervals go by own errors, in columns by size besides.

    Parameters
    ----------
    scores : of all groups; 0 where not tested
    tested, intervals : the columns of both
    largest : (n_permutations, 2, n_columns), largest smaller score in each tail; by chance error,
        which is no smaller, where `is_by_chance`
    largest_own : (n_permutations, 2, n_columns), by own error
    gaps, spans : (n_permutations, n_metrics), largest difference between full intersections, in
        the metric and in scores; NaN where there are none
    n_reached : (n_metrics, n_groups), permutations at or beyond the observed score
    """

    scores: Scores
    tested: Columns
    intervals: Columns
    largest: FloatArray
    largest_own: FloatArray
    gaps: FloatArray
    spans: FloatArray
    n_reached: IntArray
    is_by_chance: bool = False

    @classmethod
    def join(cls, parts: Sequence[PermutationTest]) -> PermutationTest:
        """One test of the draws of several."""
        return replace(
            parts[0],
            largest=np.concatenate([part.largest for part in parts]),
            largest_own=np.concatenate([part.largest_own for part in parts]),
            gaps=np.concatenate([part.gaps for part in parts]),
            spans=np.concatenate([part.spans for part in parts]),
            n_reached=np.sum([part.n_reached for part in parts], axis=0),
        )

    @property
    def n_permutations(self) -> int:
        """How many were drawn."""
        return len(self.largest)

    @property
    def p_values(self) -> FloatArray:
        """(n_metrics, n_groups), two-sided, for each group by itself."""
        return np.asarray((1 + self.n_reached) / (1 + self.n_permutations))

    @property
    def adjusted_p_values(self) -> FloatArray:
        """(n_metrics, n_groups), of the smaller score, adjusted for all groups and metrics."""
        return self._null.p_values(self.scores.smaller)

    def critical(self, alpha: float, raised: float = 0.0) -> FloatArray:
        """(2, n_metrics, n_groups), the score beyond which an adjusted p-value is at most alpha."""
        return self.tested.spread(self._null.cut_offs(alpha, raised))

    @property
    def _null(self) -> NullColumns:
        """The draws, with the data as one of them."""
        observed = self.scores.by_chance if self.is_by_chance else self.scores.smaller
        return NullColumns(self.tested, self.largest, self.tested.largest(observed))

    def cut_offs(self, alpha: float, raised: float = 0.0) -> FloatArray:
        """(2, n_metrics, n_groups), for intervals of all groups at once at 1 - alpha."""
        null = NullColumns(self.intervals, self.largest_own)
        return self.intervals.spread(interval_cut_offs(null, alpha, raised))

    def interval_p_values(self, scores: FloatArray) -> FloatArray:
        """(n_metrics, n_groups), the smallest alpha whose interval cut-off a score reaches."""
        return interval_p_values(NullColumns(self.intervals, self.largest_own), scores)


def least_p_value(n_permutations: int) -> float:
    """The smallest p-value that a test with `n_permutations` can give.

    >>> least_p_value(999)
    0.001
    """
    return 1 / (1 + n_permutations)


def gap_p_value(null_gaps: FloatArray, gap: float) -> float:
    """How often the null distribution, (n_permutations,), has a gap at least this large."""
    n_reached = int((null_gaps >= gap * (1 - ROUNDING)).sum())
    return (1 + n_reached) / (1 + len(null_gaps))


class NullDraw(NamedTuple):
    """What a draw from the null distribution shows; of a block of draws, with one more axis.

    Parameters
    ----------
    largest, largest_own : (2, n_columns) each, as of `PermutationTest`
    gaps, spans : (n_metrics,), between full intersections, in the metric and in scores
    is_reached : (n_metrics, n_groups), groups whose observed score it reaches; of a block how often
    """

    largest: FloatArray
    largest_own: FloatArray
    gaps: FloatArray
    spans: FloatArray
    is_reached: BoolArray | IntArray


class NullHypothesis(Protocol):
    """Values are independent of attributes: the observed scores, and draws.

    A draw has its own stream of random numbers and is summed in one order, whatever the threads.
    """

    scores: Scores
    tested: Columns
    intervals: Columns
    is_by_chance: bool

    def draw(self, seed: int, number: int) -> NullDraw:
        """One draw."""


class DrawBlock(NamedTuple):
    """The numbers of some draws, from `start` up to `stop`."""

    start: int
    stop: int

    @property
    def name(self) -> str:
        """The block in messages."""
        return f"permutations {self.start + 1:,} to {self.stop:,}"


def null_distribution(
    null: NullHypothesis,
    n_permutations: int,
    seed: int,
    threads: int = 1,
    advance: Callable[[int], None] = lambda n: None,
    executor: Executor | None = None,
    first: int = 0,
) -> PermutationTest:
    """The test made of some draws.

    Parameters
    ----------
    advance : called with the number of draws that are done
    executor : whose workers draw, each in one thread; None for the threads of this process
    first : the number of the first draw
    """
    numbers, size = range(first, first + n_permutations), 1 if executor is None else BLOCK
    blocks = [
        DrawBlock(start, min(start + size, numbers.stop))
        for start in range(numbers.start, numbers.stop, size)
    ]
    draw = partial(_draw_block, null, seed)
    drawn = (
        map_in_threads(draw, blocks, threads) if executor is None else executor.map(draw, blocks)
    )
    parts: list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]] = []
    n_reached = np.zeros(null.tested.of_group.shape, dtype=np.int64)
    for block, part in zip(blocks, drawn, strict=True):
        parts.append((part.largest, part.largest_own, part.gaps, part.spans))
        n_reached += part.is_reached
        advance(block.stop - block.start)
    largest, largest_own, gaps, spans = map(np.concatenate, zip(*parts, strict=True))
    return PermutationTest(
        null.scores,
        null.tested,
        null.intervals,
        largest,
        largest_own,
        gaps,
        spans,
        n_reached,
        null.is_by_chance,
    )


def _draw_block(null: NullHypothesis, seed: int, block: DrawBlock) -> NullDraw:
    draws = [null.draw(seed, number) for number in range(*block)]
    return NullDraw(
        np.stack([one.largest for one in draws]),
        np.stack([one.largest_own for one in draws]),
        np.stack([one.gaps for one in draws]),
        np.stack([one.spans for one in draws]),
        np.sum([one.is_reached for one in draws], axis=0),
    )


class Permuted:
    """Values are permuted across users."""

    def __init__(
        self,
        moments: Moments,
        grouping: Grouping,
        is_tested: BoolArray,
        higher_is_better: Sequence[bool | None],
    ) -> None:
        self.tested, self.intervals = both_columns(
            grouping.shortest_depth, moments.n, is_tested, higher_is_better
        )
        self.scores = observed_scores(moments, grouping.lattice, is_tested)
        # own errors within strata do not follow from the sums of a draw
        self.is_by_chance = moments.within is not None
        self._bounded_within = None
        if moments.within is not None:
            self._bounded_within = np.asarray(np.isfinite(moments.within.bounds).all(axis=1))
        self._everyone, self._compared = summarise_everyone(moments), prepare_comparison(moments)
        self._draws = choose_draws(moments, grouping.cells)
        self._lattice = grouping.lattice
        self._is_end = (moments.n >= grouping.min_users) & grouping.lattice.is_full
        # divisors of a centred sum that give a mean and a score
        self._n, self._error = moments.n, np.sqrt(moments.weights.null_variance)
        self._reach = np.abs(self.scores.smaller) * self._error * (1 - ROUNDING)

    def draw(self, seed: int, number: int) -> NullDraw:
        """One permutation."""
        drawn = self._draws.cell_sums(seed, number)
        sums_of_groups = self._lattice.sums(np.concatenate(drawn[1:]))
        total, squares = sums_of_groups.reshape(2, *self._n.shape)
        sums = Sums(total, squares, total, squares)
        return NullDraw(
            *maxima(
                self._everyone,
                self._compared,
                sums,
                self.tested,
                self.intervals,
                self._bounded_within,
            ),
            extreme_gaps(total, self._is_end, self._n),
            extreme_gaps(total, self._is_end, self._error),
            np.abs(total) >= self._reach,
        )


def both_columns(
    depth: IntArray, n: FloatArray, is_tested: BoolArray, higher_is_better: Sequence[bool | None]
) -> tuple[Columns, Columns]:
    """The columns of the test, which favours harm, and of intervals, which are even."""
    even = np.full(len(is_tested), 0.5)
    return (
        form_columns(depth, is_tested, harm_shares(higher_is_better)),
        form_columns(depth, is_tested, even, n),
    )


def observed_scores(moments: Moments, lattice: Lattice, is_tested: BoolArray) -> Scores:
    """The observed scores of the groups that are tested, by guarded spreads; 0 for all others."""
    own = guard_spread(own_spread(moments), moments, lattice).spread
    return Scores(*(np.where(is_tested, score, 0.0) for score in compute_scores(moments, own)))


def extreme_gaps(
    values: FloatArray, is_compared: BoolArray, scale: FloatArray | None = None
) -> FloatArray:
    """(n_metrics,), largest minus smallest value over scale of some groups; NaN without any."""
    scale = np.ones_like(values) if scale is None else scale
    gaps = np.full(len(values), np.nan)
    _extreme_gaps(values, scale, is_compared, gaps)
    return gaps


@kernel
def _extreme_gaps(
    values: FloatArray, scale: FloatArray, is_compared: BoolArray, gaps: FloatArray
) -> None:
    for i in range(len(values)):
        low, high = np.inf, -np.inf
        for at in range(values.shape[1]):
            if is_compared[i, at]:
                value = values[i, at] / scale[i, at] if scale[i, at] > 0 else 0.0
                if np.isnan(value):
                    high = np.nan
                    break
                low, high = min(low, value), max(high, value)
        if high >= low:
            gaps[i] = high - low


class Resampled:
    """A value is drawn for every user from all scored ones.

    The gap under the null hypothesis is that between all full intersections, though a search fully
    scores only some of them.
    """

    def __init__(
        self,
        moments: Moments,
        sample: Sample,
        grouping: Grouping,
        is_tested: BoolArray,
        higher_is_better: Sequence[bool | None],
    ) -> None:
        self.scores = observed_scores(moments, grouping.lattice, is_tested)
        self.is_by_chance = False
        self._moments, self._lattice = moments, grouping.lattice
        self._draws = ResampledSums(moments, sample, grouping.cells)
        self._reach = np.abs(self.scores.smaller) * (1 - ROUNDING)
        n_all, n_part = (self._lattice.sums(n) for n in (self._draws.n, self._draws.n_sample))
        n_others = moments.n_users[:, None] - n_part
        self._by_all, self._by_part = _compared(n_all, n_others), _compared(n_part, n_others)
        self._is_large = n_part >= grouping.min_users
        # a group may be tested by all its users or by its part, depending on earlier values
        counted = [is_part & self._lattice.is_tested for is_part in (n_all > 0, self._is_large)]
        tested, intervals = both_columns(
            np.tile(grouping.shortest_depth, 2),
            np.concatenate([n_all, n_part], axis=1),
            np.concatenate(counted, axis=1),
            higher_is_better,
        )
        self._columns = [*zip(_halves(tested), _halves(intervals), strict=True)]
        is_known = sample.is_fully_scored_group
        self.tested, self.intervals = (
            halves[0]._replace(
                of_group=np.where(
                    is_tested, np.where(is_known, *(one.of_group for one in halves)), -1
                )
            )
            for halves in zip(*self._columns, strict=True)
        )
        self._is_end = (n_all > 0) & grouping.lattice.is_full

    def draw(self, seed: int, number: int) -> NullDraw:
        """One resample."""
        drawn = self._draws.cell_sums(seed, number)
        sample = drawn[1]
        n_users = np.maximum(self._moments.n_users, 1)
        mean = sample.total.sum(axis=1) / n_users
        squares = sample.squares.sum(axis=1) - n_users * mean**2
        variance = np.maximum(squares, 0.0) / np.maximum(n_users - 1, 1)
        everyone = summarise_everyone(self._moments)._replace(
            mean=self._moments.mean + mean, variance=variance
        )
        of_all, of_part = (self._centred(part, mean) for part in drawn)
        error = np.sqrt(variance)[:, None]
        largest, scores = [], []
        for compared, sums, columns in zip(
            (self._by_all, self._by_part), (of_all, of_part), self._columns, strict=True
        ):
            here = compared._replace(chance_error=compared.chance_error * error)
            both = Sums(*sums, *of_part)
            largest.append(maxima(everyone, here, both, *columns))
            scores.append(_scores_by_chance(here, both))
        part_score = np.where(self._is_large, np.abs(scores[1]), 0.0)
        return NullDraw(
            np.maximum(largest[0][0], largest[1][0]),
            np.maximum(largest[0][1], largest[1][1]),
            extreme_gaps(of_all[0], self._is_end, self._by_all.n),
            extreme_gaps(scores[0], self._is_end),
            np.maximum(np.abs(scores[0]), part_score) >= self._reach,
        )

    def _centred(self, drawn: CellSums, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums and sums of squares of groups, of the values drawn minus their mean."""
        shift = mean[:, None]
        total = drawn.total - drawn.n * shift
        squares = drawn.squares - shift * (drawn.total + total)
        sums = self._lattice.sums(np.concatenate([total, squares]))
        total, squares = sums.reshape(2, len(mean), -1)
        return total, squares


def _halves(columns: Columns) -> list[Columns]:
    """Those of groups by all their users, and by their part of the sample."""
    return [columns._replace(of_group=half) for half in np.split(columns.of_group, 2, axis=1)]


def _compared(n: FloatArray, n_others: FloatArray) -> Compared:
    """Groups of `n` users compared with the sample, for values of variance 1."""
    with np.errstate(divide="ignore"):
        own, others = 1 / n, 1 / n_others
    is_compared = (n > 0) & (n_others > 0)
    error = np.where(is_compared, np.sqrt(own + others), 0.0)
    return Compared(n, n_others, np.full_like(n, np.nan), error, own, others)


def _scores_by_chance(compared: Compared, sums: Sums) -> FloatArray:
    is_compared = compared.chance_error > 0
    scores = np.zeros_like(sums.total)
    with np.errstate(invalid="ignore"):
        difference = sums.total * compared.own + sums.shared_total * compared.others
    return np.divide(difference, compared.chance_error, out=scores, where=is_compared)
