"""What a re-ranking did: to the chosen, to the others, to everyone and to every group."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.metrics.direction import badness
from fairrec.result.changes import change_of, change_part
from fairrec.result.metric_schema import Change, GapChange
from fairrec.result.mitigation_schema import (
    GapToOthers,
    GroupCounts,
    HarmedGroup,
    OrderedChanges,
    Outcome,
)
from fairrec.result.tables import conditions_of
from fairrec.statistics.paired import ChangeVerdict, GroupChanges, PairedSums, paired_sums
from fairrec.statistics.unpaired import change_of_means

HARMED_SHOWN = 20
MARKS_SHOWN = 150
NUMBERS = ("before", "after", "change", "change_low", "change_high", "p_value", "p_adjusted")
RESERVED = ("metric", "depth", "support", *NUMBERS, "verdict")
"""Names an attribute cannot have beside them in the table of changes."""


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
    return change_part(sums.changes(alpha), 0, higher_is_better, alpha)


def gap_to_others(
    values: FloatArray, is_other: BoolArray, side: FloatArray, alpha: float
) -> tuple[float, float] | tuple[None, None]:
    """How far some users are behind the others, and the p-value of that.

    Parameters
    ----------
    side : (n_users,), 1 where more is worse, or further away from the others; -1 where less is;
        NaN for users who are not chosen
    """
    known = ~np.isnan(values)
    is_chosen, is_other = known & ~np.isnan(side), known & is_other
    if min(is_chosen.sum(), is_other.sum()) < 2:
        return None, None
    # what lies on both sides of the others depends the less on where these are
    sides = side[is_chosen]
    others, chosen = sides.mean() * values[is_other], sides * values[is_chosen]
    parts = [(len(part), float(part.mean()), float(part.std(ddof=1))) for part in (others, chosen)]
    gap = change_of_means(parts[0], parts[1], alpha)
    return float(gap.change[0]), float(gap.p_value[0])


def outcome_of(
    verdict: ChangeVerdict, to_others: GapToOthers, gap: GapChange, alpha: float
) -> Outcome:
    """The verdict on the chosen groups; none that is good where it took groups further apart.

    Parameters
    ----------
    gap : between the best and the worst intersection
    """
    if verdict not in ("improved", "changed"):
        return verdict
    before, after, p_after = to_others.before, to_others.after, to_others.p_after
    if before is not None and after is not None and p_after is not None:
        if before > 0 > after and p_after <= alpha:
            return "turned round"
        if abs(after) > abs(before):
            return "gap grew"
    is_beyond_chance = gap.chance_after is not None and gap.chance_after.p_value <= alpha
    if is_beyond_chance and gap.before is not None and gap.after is not None:
        return "intersections further apart" if gap.after > gap.before else verdict
    return verdict


def counts_of(changes: GroupChanges, metric: int) -> GroupCounts:
    """How many groups of a metric became significantly better or worse."""
    verdicts = changes.verdicts(metric)
    return GroupCounts(
        improved=int((verdicts == "improved").sum()),
        worse=int((verdicts == "worse").sum()),
        changed=int((verdicts == "changed").sum()),
        not_significant=int((verdicts == "not significant").sum()),
        unchanged=int((verdicts == "unchanged").sum()),
    )


def ordered_changes(changes: GroupChanges, metric: int) -> OrderedChanges:
    """The changes of a metric in order, and how small a one could have been shown."""
    part = changes.changes[metric]
    touched = np.flatnonzero(part.n_changed > 0)
    falls = badness(part.change[touched], [*changes.metrics.values()][metric])
    ranked = touched[np.argsort(-falls, kind="stable")]
    shown = ranked
    if len(ranked) > MARKS_SHOWN:
        shown = ranked[np.linspace(0, len(ranked) - 1, MARKS_SHOWN).round().astype(np.int64)]
    least = part.least_shown(changes.alpha / max(changes.n_tests, 1))[touched]
    seeing = np.sort(least[np.isfinite(least)])
    return OrderedChanges(
        n_groups=len(touched),
        n_blind=len(touched) - len(seeing),
        # the smallest change that at least half of them would have shown
        least_shown=float(seeing[(len(seeing) - 1) // 2]) if len(seeing) else None,
        changes=tuple(part.change[shown].tolist()),
        verdicts=tuple(changes.verdicts(metric)[shown].tolist()),
    )


def harmed_groups(changes: GroupChanges) -> tuple[HarmedGroup, ...]:
    """Groups that became significantly worse, those by most standard errors first."""
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = [np.abs(part.change) / part.error for part in changes.changes]
    found = [
        (-errors[m][g], m, int(g))
        for m in range(len(changes.metrics))
        for g in np.flatnonzero(changes.verdicts(m) == "worse")
    ]
    metrics = [*changes.metrics.items()]
    return tuple(
        HarmedGroup(
            metric=metrics[m][0],
            group=changes.grouping.group(g).as_dict(),
            change=change_part(changes.changes[m], g, metrics[m][1], changes.alpha),
        )
        for _, m, g in sorted(found)[:HARMED_SHOWN]
    )


def change_table(changes: GroupChanges) -> pl.DataFrame:
    """One row for each metric and group."""
    conditions, tables = conditions_of(changes.grouping), []
    for m, (metric, part) in enumerate(zip(changes.metrics, changes.changes, strict=True)):
        change = (part.change, part.low, part.high)
        tests = (part.p_value, changes.p_adjusted[m])
        numbers = zip(NUMBERS, (part.before, part.after, *change, *tests), strict=True)
        tables.append(
            conditions.select(
                pl.lit(metric).alias("metric"),
                pl.all(),
                pl.Series("support", part.n.astype(np.int64)),
                *(pl.Series(name, column).fill_nan(None) for name, column in numbers),
                pl.Series("verdict", changes.verdicts(m).tolist()),
            ).filter(pl.col("support") > 0)
        )
    return pl.concat(tables)
