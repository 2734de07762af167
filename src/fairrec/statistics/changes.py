"""Every group before and after, by the same users: sums, tests, and the words for a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.metrics.direction import harm
from fairrec.statistics.paired import PairedChanges, PairedSums, paired_sums
from fairrec.statistics.simultaneous import holm

ChangeVerdict = Literal["improved", "worse", "changed", "not significant", "unchanged"]
"""At the significance level alpha; changed: significantly, in a metric of which neither end is
better, or in a distance that is not shown to be smaller or larger."""


def change_verdict(
    change: float, p_value: float, higher_is_better: bool | None, alpha: float
) -> ChangeVerdict:
    """A change in a word or two, at the significance level alpha."""
    if not change:
        return "unchanged"
    if not p_value <= alpha:
        return "not significant"
    if higher_is_better is None:
        return "changed"
    return "worse" if harm(change, higher_is_better) > 0 else "improved"


def group_sums(
    before: FloatArray, after: FloatArray, grouping: Grouping, pool: IntArray | None = None
) -> PairedSums:
    """Sums over every group of the lattice, for one metric.

    Parameters
    ----------
    before, after : (n_users,)
    pool : as of `paired_sums`
    """
    parts = paired_sums(before, after, pool)
    per_cell = np.stack([grouping.cells.sums(part) for part in parts])
    return PairedSums(*grouping.lattice.sums(per_cell))


def adjusted_for_all(p_values: FloatArray, is_tested: BoolArray) -> FloatArray:
    """P-values adjusted for all groups and metrics (Holm); 1 where not tested, NaN without any."""
    adjusted = np.where(np.isnan(p_values), np.nan, 1.0)
    adjusted[is_tested] = holm(p_values[is_tested])
    return adjusted


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """Every group before and after, for every metric.

    Parameters
    ----------
    metrics : name -> whether higher is better, None where neither end is
    changes : one entry a metric, each with one entry a group
    p_adjusted : (n_metrics, n_groups), adjusted for all groups and metrics by Holm, so that alpha
        bounds the family-wise error rate
    """

    metrics: Mapping[str, bool | None]
    grouping: Grouping
    changes: tuple[PairedChanges, ...]
    p_adjusted: FloatArray
    alpha: float

    @property
    def n_tests(self) -> int:
        """How many groups and metrics somebody changed in."""
        return int(sum((part.n_changed > 0).sum() for part in self.changes))

    def verdicts(self, metric: int) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        """(n_groups,), the change of each group in a word."""
        changes = self.changes[metric]
        higher_is_better = [*self.metrics.values()][metric]
        return np.array(
            [
                change_verdict(float(change), float(p), higher_is_better, self.alpha)
                for change, p in zip(changes.change, self.p_adjusted[metric], strict=True)
            ],
            dtype=np.str_,
        )


def group_changes(
    metrics: Mapping[str, bool | None],
    before: FloatArray,
    after: FloatArray,
    pool: IntArray,
    grouping: Grouping,
    alpha: float,
) -> GroupChanges:
    """Changes of all groups.

    Parameters
    ----------
    metrics : name -> whether higher is better
    before, after : (n_metrics, n_users)
    pool : (n_users,), users of one number have one spread of changes
    """
    changes = tuple(
        group_sums(first, last, grouping, pool).changes(alpha)
        for first, last in zip(before, after, strict=True)
    )
    p_values = np.stack([part.p_value for part in changes])
    # a group in which nobody changed was not tested
    is_tested = np.stack([part.n_changed > 0 for part in changes]) & ~np.isnan(p_values)
    return GroupChanges(metrics, grouping, changes, adjusted_for_all(p_values, is_tested), alpha)
