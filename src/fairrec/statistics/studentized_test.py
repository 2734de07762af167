"""The null distribution of ratios of sums: both parts of a row are permuted together.

A group's value is what its items received over what they were due, and what is due lies with few
of them. By the spread among all items a group that is due little could never stand out, whatever
it received. So a group is tested by its own error alone, in every permutation anew: the
studentized permutation test, exact where attributes have nothing to do with both parts, and right
in large samples where only the ratios are equal (Janssen 1997; Chung and Romano 2013). Where few
items have most of the due, a sample of hundreds is not large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairrec.core.arrays import BoolArray
from fairrec.groups.grouping import Grouping
from fairrec.statistics.drawing import draws_of
from fairrec.statistics.moments import Moments, over_sums
from fairrec.statistics.permutation import (
    ROUNDING,
    Extremes,
    NullDraw,
    both_columns,
    observed_scores,
)


class PermutedRatios:
    """Both parts of the ratios are permuted across items.

    Parameters
    ----------
    is_tested : (n_metrics, n_groups), groups with enough items for that metric
    """

    is_studentized = True

    def __init__(
        self,
        moments: Moments,
        grouping: Grouping,
        is_tested: BoolArray,
        higher_is_better: Sequence[bool | None],
    ) -> None:
        self.tested, self.intervals = both_columns(
            grouping.lattice.depth, moments.n, is_tested, higher_is_better
        )
        self.scores = observed_scores(moments, is_tested)
        self._moments, self._is_tested = moments, is_tested
        below = np.where(moments.n_per_row > 0, moments.size_per_row - 1.0, 0.0)
        both = replace(
            moments,
            mean=np.concatenate([moments.mean, np.ones(len(below))]),
            centred_per_row=np.concatenate([moments.centred_per_row, below]),
            n_per_row=np.concatenate([moments.n_per_row, moments.n_per_row]),
        )
        self._draws = draws_of(both, grouping.cells)
        self._lattice = grouping.lattice
        self._ends = Extremes(grouping.lattice, moments.n >= grouping.min_users)
        self._reach = np.abs(self.scores.by_own) * (1 - ROUNDING)

    def draw(self, seed: int, number: int) -> NullDraw:
        """One permutation."""
        _, totals, squares = self._draws.cell_sums(seed, number)
        n_metrics = len(self._moments.mean)
        total, below, squares = np.split(
            self._lattice.sums(np.concatenate([totals, squares[:n_metrics]])), 3
        )
        drawn = over_sums(
            replace(self._moments, total=total, squares=squares), self._moments.n + below
        )
        scores = observed_scores(drawn, self._is_tested)
        return NullDraw(
            self.tested.largest(scores.by_own),
            self.intervals.largest(scores.by_own),
            self._ends.range_of(np.nan_to_num(drawn.deviation)),
            self._ends.range_of(scores.by_own),
            np.sign(self.scores.by_own) * scores.by_own >= self._reach,
        )
