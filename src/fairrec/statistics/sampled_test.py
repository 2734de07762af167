"""The null distribution where only some users are scored.

Which users a search scores depends on what it saw, so their values cannot simply be permuted.
But two things do not depend on it: the reference sample, drawn at random before anything was
scored, and the value of a group once it is fully scored. Under the null hypothesis both are
draws from one distribution of values. It is estimated by all users scored: they are more than
the sample, so that rare values are not missing, and where the search preferred extremes they are
spread wider, which makes the test conservative. So values are drawn from them, with replacement,
for every user; every group is tested both by all its users and by its part of the sample; and
the largest statistic among all of them gives adjusted p-values. A group that the search chose to
complete is one of those that were reckoned with, whatever made it choose.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray
from fairrec.groups.grouping import Grouping
from fairrec.statistics.cell_sums import CellSums
from fairrec.statistics.draws import ResampledSums
from fairrec.statistics.moments import Moments, Sample
from fairrec.statistics.permutation import (
    ROUNDING,
    Extremes,
    NullDraw,
    both_columns,
    observed_scores,
)
from fairrec.statistics.scores import Compared, Sums, everyone_of, maxima
from fairrec.statistics.simultaneous import Columns


class Resampled:
    """A value is drawn for every user from all scored ones.

    The gap under the null hypothesis is that between all full combinations, though a search
    fully scores only some of them.

    Parameters
    ----------
    is_tested : (n_metrics, n_groups), groups of which enough users are known
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
        # whether a group came to be tested by all its users or by its part depends on what was seen
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
        self._ends = Extremes(grouping.lattice, n_all > 0)

    def draw(self, seed: int, number: int) -> NullDraw:
        """One resample."""
        drawn = self._draws.cell_sums(seed, number)
        n_users = np.maximum(self._moments.n_users, 1)
        mean = drawn.sample.total.sum(axis=1) / n_users
        squares = drawn.sample.squares.sum(axis=1) - n_users * mean**2
        variance = np.maximum(squares, 0.0) / np.maximum(n_users - 1, 1)
        everyone = everyone_of(self._moments)._replace(
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
            self._ends.range_of(of_all[0], self._by_all.n),
            self._ends.range_of(scores[0]),
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
    """Groups of `n` users beside others who are those of the sample; values of the variance 1."""
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
