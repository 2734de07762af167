"""What a re-ranking did: to the chosen, to the others, to everyone and to every group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import badness, harm
from fairrec.result.mitigation_schema import (
    Change,
    ChangeVerdict,
    GroupCounts,
    HarmedGroup,
    OrderedChanges,
)
from fairrec.statistics.adjust import holm
from fairrec.statistics.paired import PairedChanges, PairedSums, paired_change, paired_sums

HARMED_SHOWN = 20
MARKS_SHOWN = 150
NUMBERS = ("before", "after", "change", "change_low", "change_high", "p_value", "p_adjusted")
RESERVED = ("metric", "depth", "support", *NUMBERS, "verdict")
"""Names an attribute cannot have beside them in the table of changes."""


def change_of(
    before: FloatArray, after: FloatArray, higher_is_better: bool | None, alpha: float
) -> Change:
    """The change of a set of users that is all there is to know of."""
    return _change(paired_change(before, after, alpha), 0, higher_is_better, alpha)


def distance_change(before: FloatArray, after: FloatArray, alpha: float) -> Change:
    """The change of signed distances: positive ones on the side where they were to be expected.

    That they went down is no improvement where they went past 0 and away on the other side.
    A distance became smaller if users moved one way and are the other way on average of before
    and after, and each must be shown.
    """
    moved = change_of(before, after, None, alpha)
    stood = change_of(-before, after, None, alpha)
    if moved.verdict != "changed" or stood.verdict != "changed":
        return moved
    assert moved.change is not None and stood.change is not None
    if moved.change * stood.change > 0:
        return moved.model_copy(update={"verdict": "worse"})
    # on the other side than expected there was no such distance to reduce
    is_expected = stood.change > 0
    return moved.model_copy(update={"verdict": "improved"}) if is_expected else moved


def change_among(
    before: FloatArray,
    after: FloatArray,
    pool: IntArray,
    is_in: BoolArray,
    higher_is_better: bool | None,
    alpha: float,
) -> Change:
    """The change of some of the users, as `group_changes` has it."""
    parts = paired_sums(before, after, pool)
    sums = PairedSums(*(np.array([part[is_in].sum()]) for part in parts))
    return _change(sums.changes(alpha), 0, higher_is_better, alpha)


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """Every group before and after, for every metric.

    Parameters
    ----------
    changes : one entry a metric, each with one entry a group
    p_adjusted : (n_metrics, n_groups), adjusted for all groups and metrics by Holm, so that alpha
        bounds the family-wise error rate
    """

    metrics: tuple[MetricAtK, ...]
    grouping: Grouping
    changes: tuple[PairedChanges, ...]
    p_adjusted: FloatArray
    alpha: float

    @property
    def n_tests(self) -> int:
        """How many groups and metrics somebody changed in."""
        return int(sum((part.n_changed > 0).sum() for part in self.changes))

    def counts(self, metric: int) -> GroupCounts:
        """How many groups of a metric became significantly better or worse."""
        verdicts = self._verdicts(metric)
        return GroupCounts(
            improved=int((verdicts == "improved").sum()),
            worse=int((verdicts == "worse").sum()),
            changed=int((verdicts == "changed").sum()),
            not_significant=int((verdicts == "not significant").sum()),
            unchanged=int((verdicts == "unchanged").sum()),
        )

    def ordered(self, metric: int) -> OrderedChanges:
        """The changes of a metric in order, and how small a one could have been shown."""
        part = self.changes[metric]
        touched = np.flatnonzero(part.n_changed > 0)
        falls = badness(part.change[touched], self.metrics[metric].metric.higher_is_better)
        ranked = touched[np.argsort(-falls, kind="stable")]
        shown = ranked
        if len(ranked) > MARKS_SHOWN:
            shown = ranked[np.linspace(0, len(ranked) - 1, MARKS_SHOWN).round().astype(np.int64)]
        least = part.least_shown(self.alpha / max(self.n_tests, 1))[touched]
        seeing = np.sort(least[np.isfinite(least)])
        verdicts = self._verdicts(metric)
        return OrderedChanges(
            n_groups=len(touched),
            n_blind=len(touched) - len(seeing),
            # the smallest change that at least half of them would have shown
            least_shown=float(seeing[(len(seeing) - 1) // 2]) if len(seeing) else None,
            changes=tuple(part.change[shown].tolist()),
            verdicts=tuple(verdicts[shown].tolist()),
        )

    def harmed(self) -> tuple[HarmedGroup, ...]:
        """Groups that became significantly worse, those by most standard errors first."""
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = [np.abs(part.change) / part.error for part in self.changes]
        found = [
            (-errors[m][g], m, int(g))
            for m in range(len(self.metrics))
            for g in np.flatnonzero(self._verdicts(m) == "worse")
        ]
        return tuple(
            HarmedGroup(
                metric=self.metrics[m].name,
                group=self.grouping.group(g).as_dict(),
                change=_change(
                    self.changes[m], g, self.metrics[m].metric.higher_is_better, self.alpha
                ),
            )
            for _, m, g in sorted(found)[:HARMED_SHOWN]
        )

    def table(self, conditions: pl.DataFrame) -> pl.DataFrame:
        """One row for each metric and group.

        Parameters
        ----------
        conditions : one row a group, as the table of groups has it
        """
        tables = []
        for m, (metric, changes) in enumerate(zip(self.metrics, self.changes, strict=True)):
            change = (changes.change, changes.low, changes.high)
            tests = (changes.p_value, self.p_adjusted[m])
            numbers = zip(NUMBERS, (changes.before, changes.after, *change, *tests), strict=True)
            tables.append(
                conditions.select(
                    pl.lit(metric.name).alias("metric"),
                    pl.all(),
                    pl.Series("support", changes.n.astype(np.int64)),
                    *(pl.Series(name, part).fill_nan(None) for name, part in numbers),
                    pl.Series("verdict", self._verdicts(m).tolist()),
                ).filter(pl.col("support") > 0)
            )
        return pl.concat(tables)

    def _verdicts(self, metric: int) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        changes = self.changes[metric]
        higher_is_better = self.metrics[metric].metric.higher_is_better
        return np.array(
            [
                verdict(float(change), float(p), higher_is_better, self.alpha)
                for change, p in zip(changes.change, self.p_adjusted[metric], strict=True)
            ],
            dtype=np.str_,
        )


def group_changes(
    metrics: Sequence[MetricAtK],
    before: FloatArray,
    after: FloatArray,
    pool: IntArray,
    grouping: Grouping,
    alpha: float,
) -> GroupChanges:
    """Changes of all groups.

    Parameters
    ----------
    before, after : (n_metrics, n_users)
    pool : (n_users,), users of one number have one spread of changes
    """
    changes = []
    for first, last in zip(before, after, strict=True):
        parts = paired_sums(first, last, pool)
        per_cell = np.stack([grouping.cells.sums(part) for part in parts])
        changes.append(PairedSums(*grouping.lattice.sums(per_cell)).changes(alpha))
    p_values = np.stack([part.p_value for part in changes])
    # a group in which nobody changed was not tested
    is_tested = np.stack([part.n_changed > 0 for part in changes]) & ~np.isnan(p_values)
    adjusted = np.where(np.isnan(p_values), np.nan, 1.0)
    adjusted[is_tested] = holm(p_values[is_tested])
    return GroupChanges(tuple(metrics), grouping, tuple(changes), adjusted, alpha)


def verdict(
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


def _change(changes: PairedChanges, at: int, higher_is_better: bool | None, alpha: float) -> Change:
    n = int(changes.n[at])
    has_interval = n > 1 and not np.isnan(changes.low[at])
    return Change(
        n_users=n,
        before=float(changes.before[at]) if n else None,
        after=float(changes.after[at]) if n else None,
        change=float(changes.change[at]) if n else None,
        interval=(float(changes.low[at]), float(changes.high[at])) if has_interval else None,
        p_value=float(changes.p_value[at]) if n > 1 else None,
        verdict=(
            verdict(float(changes.change[at]), float(changes.p_value[at]), higher_is_better, alpha)
            if n
            else "unchanged"
        ),
    )
