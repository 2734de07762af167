"""The result of each metric: its gap and null distribution, findings, verdict, and changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray, finite_or_none
from fairrec.groups.group import GroupValue
from fairrec.result.metric_schema import (
    Chance,
    Change,
    Detectable,
    GapChange,
    MetricResult,
    UndecidedGroup,
)
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.findings import (
    best_and_worst,
    describe_findings,
    list_findings,
)
from fairrec.statistics.missing import Conclusiveness
from fairrec.statistics.paired import PairedChanges, change_of_means, change_verdict, paired_change
from fairrec.statistics.permutation import extreme_gaps, gap_p_value
from fairrec.statistics.unknown import UnknownBounds, select_bounds, unknown_bounds
from fairrec.statistics.verdict import Judged, decide_verdicts


@dataclass(frozen=True, slots=True)
class DescribedMetric:
    """A metric by its names, and what is known of each group of the lattice.

    Parameters
    ----------
    findings : positions in the lattice, worst first
    unknown : bounds of groups to which users with unknown attributes may belong; None for none
    """

    result: MetricResult
    findings: tuple[int, ...]
    judged: Judged
    unknown: UnknownBounds | None


def describe_metrics(
    analysis: Analysis, standing: Sequence[Conclusiveness]
) -> tuple[DescribedMetric, ...]:
    """Each metric that is a mean over users."""
    measured, grouping, moments = analysis.measured, analysis.grouping, analysis.moments
    is_large = moments.n >= grouping.min_users
    is_compared = is_large & analysis.is_fully_scored & grouping.lattice.is_full
    gaps = extreme_gaps(analysis.raw.deviation, is_compared)
    spans = extreme_gaps(analysis.score, is_compared)
    is_tested = analysis.has_enough_draws
    listed = [list_findings(i, analysis) for i in range(len(measured.metrics))]
    positions = [tuple(one.position for one in selected) for selected, _ in listed]
    unknown = [unknown_bounds(i, at, measured, grouping) for i, at in enumerate(positions)]
    judged = decide_verdicts(analysis, [stands.is_conclusive for stands in standing], unknown)
    found = []
    for i, (metric, stands, (selected, n_left)) in enumerate(
        zip(measured.metrics, standing, listed, strict=True)
    ):
        full = np.flatnonzero(is_compared[i])
        ends = best_and_worst(
            metric, analysis.estimates.value[i, full], moments.n[i, full], analysis.options.top
        )
        best, worst = (_group_values(i, full[end], analysis) for end in ends)
        findings = describe_findings(i, selected, analysis, judged[i].groups)
        # of a single fully scored group nothing can be said yet
        has_gap = len(full) > (0 if moments.sample is None else 1)
        known, bounds = measured.column(i).known, unknown[i]
        result = MetricResult(
            definition=metric.metric.definition,
            called=metric.called,
            higher_is_better=metric.metric.higher_is_better,
            mean=float(moments.mean[i]),
            sd=float(moments.sd[i]),
            n_compared=int(moments.n_users[i]),
            is_ratio_scale=bool(len(known)) and metric.metric.is_ratio_scale(float(known.min())),
            bounds=_bounds(metric.metric.bounds),
            n_defined=int(moments.n_per_row[i].sum()),
            n_undefined=measured.n_undefined(i),
            undefined_share=stands.undefined_share,
            is_conclusive=stands.is_conclusive,
            is_constant=stands.is_constant,
            n_groups=int((analysis.is_tested[i] & (moments.n_others[i] > 0)).sum()),
            is_tested=is_tested,
            gap=float(gaps[i]) if has_gap else None,
            advantaged=best[0] if best else None,
            disadvantaged=worst[0] if worst else None,
            most_advantaged=best,
            most_disadvantaged=worst,
            chance=_chance(i, float(gaps[i]), float(spans[i]), analysis),
            findings=findings,
            n_significant=int(analysis.is_beyond_chance[i].sum()),
            n_not_listed=n_left,
            detectable=_detectable(i, analysis),
            verdict=judged[i].verdict if is_tested else None,
            undecided=_undecided(i, analysis),
            unknown=()
            if bounds is None
            else bounds.describe(
                i,
                select_bounds(bounds, positions[i], metric.metric.higher_is_better, grouping),
                analysis,
            ),
        )
        found.append(DescribedMetric(result, positions[i], judged[i], bounds))
    return tuple(found)


def _bounds(ends: tuple[float, float] | None) -> tuple[float | None, float | None] | None:
    """As the metric is declared; unknown for a column of values."""
    if ends is None or not np.isfinite(ends).any():
        return None
    low, high = map(finite_or_none, ends)
    return low, high


def _chance(i: int, gap: float, span: float, analysis: Analysis) -> Chance | None:
    tested_by = analysis.tested_by
    if tested_by is None or math.isnan(gap):
        return None
    null_gaps = tested_by.gaps[:, i]
    return Chance(
        mean=float(null_gaps.mean()),
        q95=float(np.quantile(null_gaps, 0.95)),
        p_value=gap_p_value(tested_by.spans[:, i], span),
        permutations=len(null_gaps),
    )


def _detectable(i: int, analysis: Analysis) -> tuple[Detectable, ...]:
    """The power of the audit at a few sizes, from the smallest group up to half of all users.

    Sizes at which even the largest possible harm would be missed are left out, and all of them
    within strata: there it depends on who shares a group's covariates.
    """
    if analysis.is_adjusted:
        return ()
    sizes = []
    size = analysis.grouping.min_users
    while size <= analysis.moments.n_users[i] / 2:
        sizes.append(size)
        size *= 10
    harms = analysis.find_detectable(i, np.array(sizes, dtype=np.float64))
    return tuple(
        Detectable(support=size, difference=float(harm))
        for size, harm in zip(sizes, harms, strict=True)
        if not math.isnan(harm)
    )


def _beside_findings(i: int, is_one: BoolArray, analysis: Analysis) -> IntArray:
    """Those of some groups that are neither explained by a finding nor by one another."""
    listed = list_findings(i, analysis, is_one)[0] if is_one.any() else []
    return np.array([one.position for one in listed], dtype=np.int64)


def _undecided(i: int, analysis: Analysis) -> tuple[UndecidedGroup, ...]:
    """Significant groups of which the interval for all groups at once includes 0."""
    groups = _beside_findings(i, analysis.is_undecided[i], analysis)
    low, high = analysis.estimates.simultaneous
    return tuple(
        UndecidedGroup(
            **one.model_dump(),
            difference=float(analysis.moments.difference[i, at]),
            simultaneous=(float(low[i, at]), float(high[i, at])),
            p_adjusted=float(analysis.adjusted_p_values[i, at]),
        )
        for one, at in zip(_group_values(i, groups, analysis), groups, strict=True)
    )


def _group_values(i: int, groups: IntArray, analysis: Analysis) -> tuple[GroupValue, ...]:
    values, support = analysis.estimates.value[i], analysis.moments.n[i]
    return tuple(analysis.grouping.describe(at, values[at], support[at]) for at in groups)


def estimate_change(
    before: FloatArray, after: FloatArray, higher_is_better: bool | None, alpha: float
) -> Change:
    """The change of a set of users that is all there is to know of."""
    return name_change(paired_change(before, after, alpha), 0, higher_is_better, alpha)


def estimate_mean_change(before: MetricResult, after: MetricResult, alpha: float) -> Change | None:
    """The change of the mean over other users; None where a metric is no mean over users."""
    if before.sd is None or after.sd is None:
        return None
    first = (before.n_compared, before.mean, before.sd)
    changes = change_of_means(first, (after.n_compared, after.mean, after.sd), alpha)
    return name_change(changes, 0, after.higher_is_better, alpha)


def gap_change(before: MetricResult, after: MetricResult) -> GapChange:
    """The gap of two results."""
    return GapChange(
        before=before.gap, after=after.gap, chance_before=before.chance, chance_after=after.chance
    )


def name_change(
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
