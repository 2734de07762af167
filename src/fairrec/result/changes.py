"""Changes as named parts."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.result.metric_schema import Change, GapChange, MetricResult
from fairrec.statistics.paired import PairedChanges, change_of_means, change_verdict, paired_change


def change_of(
    before: FloatArray, after: FloatArray, higher_is_better: bool | None, alpha: float
) -> Change:
    """The change of a set of users that is all there is to know of."""
    return change_part(paired_change(before, after, alpha), 0, higher_is_better, alpha)


def change_between(before: MetricResult, after: MetricResult, alpha: float) -> Change | None:
    """The change of the mean over other users; None where a metric is no mean over users."""
    if before.sd is None or after.sd is None:
        return None
    first = (before.n_compared, before.mean, before.sd)
    changes = change_of_means(first, (after.n_compared, after.mean, after.sd), alpha)
    return change_part(changes, 0, after.higher_is_better, alpha)


def gap_change(before: MetricResult, after: MetricResult) -> GapChange:
    """The gap of two results."""
    return GapChange(
        before=before.gap, after=after.gap, chance_before=before.chance, chance_after=after.chance
    )


def change_part(
    changes: PairedChanges, at: int, higher_is_better: bool | None, alpha: float
) -> Change:
    """One of several changes."""
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
            change_verdict(
                float(changes.change[at]), float(changes.p_value[at]), higher_is_better, alpha
            )
            if n
            else "unchanged"
        ),
    )
