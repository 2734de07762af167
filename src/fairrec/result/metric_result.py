"""The result of each metric, named: its gap and its null distribution, and the findings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fairrec.core.arrays import IntArray
from fairrec.groups.grouping import Grouping
from fairrec.result.schema import (
    Chance,
    Detectable,
    Finding,
    GroupValue,
    Interaction,
    MetricResult,
    Neighbour,
    Unknown,
)
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.interaction import Interaction as FoundInteraction
from fairrec.statistics.metric_analysis import ChanceLevel, FoundGroup, MetricAnalysis
from fairrec.statistics.pooled import PooledAnalysis
from fairrec.statistics.standing import Standing
from fairrec.statistics.unknown import UnknownBounds


def metric_results(
    analysis: Analysis, found: Sequence[MetricAnalysis], standing: Sequence[Standing]
) -> dict[str, MetricResult]:
    """The result of each metric that is a mean over users."""
    measured, moments = analysis.measured, analysis.moments
    results = {}
    for i, (metric, about, stands) in enumerate(
        zip(measured.metrics, found, standing, strict=True)
    ):
        best, worst = (_group_values(i, groups, analysis) for groups in (about.best, about.worst))
        results[metric.name] = MetricResult(
            definition=metric.metric.definition,
            higher_is_better=metric.metric.higher_is_better,
            mean=float(moments.mean[i]),
            sd=float(moments.sd[i]),
            n_compared=int(moments.n_users[i]),
            critical=analysis.critical if math.isfinite(analysis.critical) else None,
            n_defined=int(moments.is_defined[i].sum()),
            n_undefined=int((measured.is_scored & ~moments.is_defined[i]).sum()),
            undefined_share=stands.undefined_share,
            is_conclusive=stands.is_conclusive,
            is_constant=stands.is_constant,
            n_groups=int((analysis.is_tested[i] & (moments.n_others[i] > 0)).sum()),
            is_tested=math.isfinite(analysis.critical),
            gap=about.gap,
            advantaged=best[0] if best else None,
            disadvantaged=worst[0] if worst else None,
            most_advantaged=best,
            most_disadvantaged=worst,
            chance=None if about.chance is None else _chance(about.chance),
            findings=tuple(finding_of(i, group, analysis) for group in about.findings),
            n_significant=int(analysis.is_significant[i].sum()),
            n_not_listed=about.n_not_listed,
            detectable=tuple(
                Detectable(support=size, difference=difference)
                for size, difference in about.detectable.items()
            ),
            unknown=tuple(_unknown(bounds, analysis.grouping) for bounds in about.unknown),
        )
    return results


def pooled_results(analysis: Analysis, found: Sequence[PooledAnalysis]) -> dict[str, MetricResult]:
    """The result of each pooled metric: intersections of all attributes only, no tests."""
    lattice = analysis.grouping.lattice
    results = {}
    for about in found:
        best, worst = (
            tuple(
                GroupValue(
                    group=analysis.grouping.group(int(about.groups[at])).as_dict(),
                    value=float(about.values[at]),
                    support=int(lattice.n_users[about.groups[at]]),
                )
                for at in end
            )
            for end in (about.best, about.worst)
        )
        results[about.metric.name] = MetricResult(
            definition=about.metric.metric.definition,
            higher_is_better=about.metric.metric.higher_is_better,
            mean=about.of_all,
            n_defined=analysis.grouping.n_users - about.n_undefined,
            n_undefined=about.n_undefined,
            n_groups=len(about.groups),
            is_tested=False,
            gap=about.gap,
            advantaged=best[0] if best else None,
            disadvantaged=worst[0] if worst else None,
            most_advantaged=best,
            most_disadvantaged=worst,
            chance=None,
            findings=(),
            n_significant=0,
            n_not_listed=0,
            detectable=(),
        )
    return results


def _group_values(i: int, groups: IntArray, analysis: Analysis) -> tuple[GroupValue, ...]:
    return tuple(
        GroupValue(
            group=analysis.grouping.group(int(at)).as_dict(),
            value=float(analysis.estimates.value[i, at]),
            support=int(analysis.moments.n[i, at]),
        )
        for at in groups
    )


def _chance(level: ChanceLevel) -> Chance:
    return Chance(
        mean=level.mean,
        q95=level.q95,
        p_value=level.p_value,
        permutations=level.n_permutations,
    )


def finding_of(i: int, found: FoundGroup, analysis: Analysis) -> Finding:
    """A finding, named."""
    at, estimates, grouping = found.position, analysis.estimates, analysis.grouping
    return Finding(
        group=grouping.group(at).as_dict(),
        value=float(estimates.value[i, at]),
        support=int(analysis.moments.n[i, at]),
        n_users=int(grouping.lattice.n_users[at]),
        is_fully_scored=bool(analysis.is_fully_scored[at]),
        difference=float(estimates.difference[i, at]),
        interval=(float(estimates.difference_low[i, at]), float(estimates.difference_high[i, at])),
        p_value=float(analysis.p_values[i, at]),
        p_adjusted=float(analysis.adjusted_p_values[i, at]),
        interaction=None
        if found.interaction is None
        else _interaction(found.interaction, grouping),
        n_folded=found.n_folded,
    )


def _interaction(found: FoundInteraction, grouping: Grouping) -> Interaction:
    names = [grouping.attributes[attribute].name for attribute in found.attributes]
    return Interaction(
        carried_by=found.carried_by,
        alone=tuple(grouping.attributes[attribute].name for attribute in found.alone),
        excess=found.excess,
        error=found.error,
        neighbours=tuple(
            Neighbour(
                is_met=dict(zip(names, neighbour.is_met, strict=True)),
                n_users=neighbour.n_users,
                value=neighbour.value,
                error=neighbour.error,
            )
            for neighbour in found.neighbours
        ),
    )


def _unknown(bounds: UnknownBounds, grouping: Grouping) -> Unknown:
    return Unknown(
        group=grouping.group(bounds.position).as_dict(),
        n_known=bounds.n_known,
        n_unknown=bounds.n_unknown,
        difference=bounds.difference,
        bounds=(bounds.low, bounds.high),
    )
