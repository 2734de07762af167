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

from dataclasses import replace

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.statistics.draws import CellSums, ResampledSums
from fairrec.statistics.moments import Moments, Sample, weights_of
from fairrec.statistics.permutation import ROUNDING, Extremes, NullDraw, tested_scores
from fairrec.statistics.scores import compared_of, everyone_of, maxima, sums_of
from fairrec.statistics.simultaneous import N_CLASSES, size_classes


class Resampled:
    """A value is drawn for every user from all scored ones.

    The gap under the null hypothesis is that between all full combinations, though a search
    fully scores only some of them.

    Parameters
    ----------
    is_tested : (n_metrics, n_groups), groups of which enough users are known
    """

    def __init__(
        self, moments: Moments, sample: Sample, grouping: Grouping, is_tested: BoolArray
    ) -> None:
        self.classes = size_classes(moments.n, is_tested)
        self.scores = tested_scores(moments, is_tested)
        self._moments, self._sample, self._grouping = moments, sample, grouping
        self._draws = ResampledSums(moments, sample, grouping.cells)
        self._reach = np.abs(self.scores.smaller) * (1 - ROUNDING)

    def draw(self, seed: int, number: int) -> NullDraw:
        """One resample."""
        drawn = self._draws.cell_sums(seed, number)
        of_all, of_sample = (self._group_sums(part) for part in drawn)
        by_all = self._moments_of(of_all, of_sample, drawn.sample)
        by_part = self._moments_of(of_sample, of_sample, drawn.sample)
        is_large = by_part.n >= self._grouping.min_users
        # whether a group came to be tested by all its users or by its part depends on what was seen
        of_both = (
            _maxima(by_all, size_classes(by_all.n, by_all.n > 0)),
            _maxima(by_part, size_classes(by_part.n, is_large)),
        )
        score, part_score = _scores_by_chance(by_all), _scores_by_chance(by_part)
        larger = np.maximum(np.abs(score), np.where(is_large, np.abs(part_score), 0.0))
        ends = Extremes(self._grouping.lattice, by_all.n > 0)
        largest, largest_own = (np.maximum(*pair) for pair in zip(*of_both, strict=True))
        return NullDraw(
            largest,
            largest_own,
            ends.range_of(by_all.deviation),
            ends.range_of(score),
            larger >= self._reach,
        )

    def _group_sums(self, drawn: CellSums) -> CellSums:
        n, total, squares = np.split(self._grouping.lattice.sums(np.concatenate(drawn)), 3)
        return CellSums(n, total, squares)

    def _moments_of(self, known: CellSums, sample: CellSums, cells: CellSums) -> Moments:
        """The moments as they would be with these values.

        Parameters
        ----------
        known : sums of the users by which each group is known
        sample, cells : sums of those in the reference sample, over groups and over cells
        """
        moments = self._moments
        n_users = moments.n_users
        mean = cells.total.sum(axis=1) / np.maximum(n_users, 1)
        squares = cells.squares.sum(axis=1) - n_users * mean**2
        variance = np.maximum(squares, 0.0) / np.maximum(n_users - 1, 1)
        known, sample = _centred(known, mean), _centred(sample, mean)
        return replace(
            moments,
            mean=moments.mean + mean,
            variance=variance,
            n=known.n,
            total=known.total,
            squares=known.squares,
            weights=weights_of(known.n, n_users[:, None] - sample.n, variance[:, None]),
            sample=replace(self._sample, n=sample.n, total=sample.total, squares=sample.squares),
        )


def _maxima(moments: Moments, classes: IntArray) -> tuple[FloatArray, FloatArray]:
    compared = compared_of(moments)
    return maxima(everyone_of(moments), compared, sums_of(moments), classes, N_CLASSES)


def _centred(sums: CellSums, mean: FloatArray) -> CellSums:
    """The sums of values minus `mean`."""
    shift = mean[:, None]
    squares = sums.squares - 2 * shift * sums.total + sums.n * shift**2
    return CellSums(sums.n, sums.total - sums.n * shift, squares)


def _scores_by_chance(moments: Moments) -> FloatArray:
    error = moments.chance_error
    difference = np.nan_to_num(moments.difference)
    return np.divide(difference, error, out=np.zeros_like(error), where=error > 0)
