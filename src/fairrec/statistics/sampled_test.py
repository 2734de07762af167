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

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray
from fairrec.groups.grouping import Grouping
from fairrec.statistics.draws import DrawnSums, ResampledSums
from fairrec.statistics.moments import Moments, Sample
from fairrec.statistics.permutation import ROUNDING, NullDraw


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
        with np.errstate(invalid="ignore", divide="ignore"):
            statistic = moments.difference / moments.chance_error
        self.statistic = np.where(is_tested & np.isfinite(statistic), statistic, 0.0)
        self._reach = np.abs(self.statistic) * (1 - ROUNDING)
        self._resamples = ResampledSums(moments, sample, grouping.cells)
        self._lattice = grouping.lattice
        self._n_sample, self._n_all = sample.n, moments.n_users[:, None]
        self._n_members = grouping.lattice.sums(self._resamples.n_users)
        self._is_large = sample.n >= grouping.min_users

    def draw(self, seed: int, number: int) -> NullDraw:
        """One resample."""
        full, part, gaps = self._statistics(self._resamples.cell_sums(seed, number))
        full, part = np.abs(full), np.where(self._is_large, np.abs(part), 0.0)
        largest = max(full.max(initial=0.0), part.max(initial=0.0))
        # whether a group came to be tested by all its users or by its part depends on what was seen
        return NullDraw(float(largest), gaps, np.maximum(full, part) >= self._reach)

    def _statistics(self, drawn: DrawnSums) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Those of the groups by all their users and by their part of the sample, and the gaps."""
        n_all, n_sample = self._n_all, self._n_sample
        total = drawn.sample.sum(axis=1, keepdims=True)
        both = np.concatenate([drawn.all_users, drawn.sample])
        full_sums, part_sums = np.split(self._lattice.sums(both), 2)
        variance = drawn.squares[:, None] - total**2 / np.maximum(n_all, 1)
        variance = np.maximum(variance, 0) / np.maximum(n_all - 1, 1)
        n_others = n_all - n_sample
        others = _ratio(total - part_sums, n_others)
        values = _ratio(full_sums, self._n_members)
        gaps = np.array(
            [
                _spread(row[self._lattice.is_full & (n > 0)])
                for row, n in zip(values, self._n_members, strict=True)
            ]
        )
        return (
            _statistic(values - others, variance, self._n_members, n_others),
            _statistic(_ratio(part_sums, n_sample) - others, variance, n_sample, n_others),
            gaps,
        )


def _statistic(
    difference: FloatArray, variance: FloatArray, n: FloatArray, n_others: FloatArray
) -> FloatArray:
    is_defined = (n > 0) & (n_others > 0) & (variance > 0)
    error = np.sqrt(variance * _ratio(n + n_others, n * n_others))
    return np.divide(difference, error, out=np.zeros_like(difference), where=is_defined)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    shape = np.broadcast_shapes(above.shape, below.shape)
    return np.divide(above, below, out=np.zeros(shape), where=below > 0)


def _spread(values: FloatArray) -> float:
    return float(np.ptp(values)) if len(values) else np.nan
