"""The result of each metric, named: its gap and its null distribution, and the findings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import harm
from fairrec.result.metric_schema import (
    CategoryRatios,
    CertifiedSize,
    Chance,
    Detectable,
    Finding,
    GroupRatios,
    Interaction,
    MetricRatios,
    MetricResult,
    Neighbour,
    Ratios,
    Split,
    UndecidedGroup,
    Unknown,
)
from fairrec.result.metric_schema import MetricVerdict as NamedVerdict
from fairrec.result.parts import GroupValue
from fairrec.statistics import inequality, ratios
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.findings import Interaction as FoundInteraction
from fairrec.statistics.metric_analysis import (
    ChanceLevel,
    FoundGroup,
    MetricAnalysis,
    PooledAnalysis,
)
from fairrec.statistics.missing import Standing
from fairrec.statistics.ratios import WhyNot
from fairrec.statistics.unknown import UnknownBounds, listed_bounds
from fairrec.statistics.verdict import BY_MORE, RULED_OUT, WORSE, MetricVerdict, outcome_names


def ratios_part(
    found: ratios.RatioAnalysis,
    unequal: Sequence[inequality.Inequality],
    measured: Sequence[MetricAtK],
    wanted: Sequence[MetricAtK],
) -> Ratios:
    """The part of `result.json` about ratios and inequality.

    Parameters
    ----------
    found, unequal : one for each metric that was measured
    wanted : all metrics, pooled ones among them
    """
    known = {
        metric.name: _metric(compared, spread)
        for metric, compared, spread in zip(measured, found.metrics, unequal, strict=True)
    }
    return Ratios(
        four_fifths=ratios.FOUR_FIFTHS,
        small_category=ratios.SMALL_CATEGORY,
        n_pairs_left_out=found.n_pairs_left_out,
        metrics={metric.name: known.get(metric.name) or _pooled() for metric in wanted},
    )


def _metric(compared: ratios.MetricRatios, spread: inequality.Inequality) -> MetricRatios:
    return MetricRatios(
        why_no_ratios=compared.why_not,
        rate_kind=compared.rate_kind,
        threshold=compared.threshold,
        by=tuple(_categories(one) for one in compared.by),
        why_no_inequality=spread.why_not,
        gini=_number(spread.gini),
        theil=_number(spread.theil),
        splits=tuple(_split(one) for one in spread.splits),
    )


def _pooled() -> MetricRatios:
    why_not: WhyNot = "it is no mean over users"
    return _metric(ratios.MetricRatios(why_not), inequality.Inequality(why_not))


def _categories(one: ratios.CategoryRatios) -> CategoryRatios:
    return CategoryRatios(
        attributes=one.partition.names,
        n_unknown=one.n_unknown,
        n_too_few=one.n_too_few,
        n_users_too_few=one.n_users_too_few,
        n_not_listed=one.n_not_listed,
        groups=tuple(_group(one, at) for at in range(len(one.groups))),
    )


def _group(one: ratios.CategoryRatios, at: int) -> GroupRatios:
    return GroupRatios(
        group=one.partition.group(int(one.groups[at])).as_dict(),
        support=int(one.n[at]),
        value=float(one.value[at]),
        to_best=_number(one.to_best[at]),
        to_best_interval=_interval(one.to_best_low, one.to_best_high, at),
        to_rest=_number(one.to_rest[at]),
        to_rest_interval=_interval(one.to_rest_low, one.to_rest_high, at),
        four_fifths=one.four_fifths(at),
        rate=float(one.rate[at]),
        impact_ratio=_number(one.impact[at]),
        left_out=one.left_out(at),
    )


def _split(split: inequality.Split) -> Split:
    worst = split.worst
    return Split(
        attributes=split.partition.names,
        n_groups=split.n_groups,
        between=split.between,
        within=split.within,
        share_between=split.share_between,
        share_by_chance=split.share_by_chance,
        worst_off=None
        if worst is None
        else GroupValue(
            group=split.partition.group(worst).as_dict(),
            value=split.worst_value,
            support=split.worst_n,
        ),
    )


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _interval(low: FloatArray, high: FloatArray, at: int) -> tuple[float, float] | None:
    return None if math.isnan(low[at]) else (float(low[at]), float(high[at]))


def metric_results(
    analysis: Analysis,
    found: Sequence[MetricAnalysis],
    standing: Sequence[Standing],
    verdicts: Sequence[MetricVerdict],
) -> dict[str, MetricResult]:
    """The result of each metric that is a mean over users."""
    measured, moments = analysis.measured, analysis.moments
    results = {}
    is_tested = analysis.has_enough_draws
    # of items the error of a group follows from users, and no size tells it
    has_one_error = is_tested and analysis.test is not None
    for i, (metric, about, stands, verdict) in enumerate(
        zip(measured.metrics, found, standing, verdicts, strict=True)
    ):
        best, worst = (_group_values(i, groups, analysis) for groups in (about.best, about.worst))
        results[metric.name] = MetricResult(
            definition=metric.metric.definition,
            called=metric.called,
            higher_is_better=metric.metric.higher_is_better,
            mean=float(moments.mean[i]),
            sd=float(moments.sd[i]),
            n_compared=int(moments.n_users[i]),
            critical_tails=_critical_tails(i, analysis) if has_one_error else None,
            is_ratio_scale=_is_ratio_scale(i, analysis),
            bounds=_bounds(metric.metric.bounds),
            n_defined=int(moments.n_per_row[i].sum()),
            n_undefined=measured.n_undefined(i),
            undefined_share=stands.undefined_share,
            is_conclusive=stands.is_conclusive,
            is_constant=stands.is_constant,
            n_groups=int((analysis.is_tested[i] & (moments.n_others[i] > 0)).sum()),
            is_tested=is_tested,
            gap=about.gap,
            advantaged=best[0] if best else None,
            disadvantaged=worst[0] if worst else None,
            most_advantaged=best,
            most_disadvantaged=worst,
            chance=None if about.chance is None else _chance(about.chance),
            findings=tuple(finding_of(i, group, analysis, verdict) for group in about.findings),
            n_significant=int(analysis.is_beyond_chance[i].sum()),
            n_not_listed=about.n_not_listed,
            detectable=tuple(
                Detectable(support=size, difference=difference)
                for size, difference in about.detectable.items()
            ),
            verdict=_verdict(i, verdict, about.unknown, analysis) if is_tested else None,
            undecided=_undecided(i, about.undecided, analysis),
            varying=_group_values(i, np.array(about.varying, dtype=np.int64), analysis),
            unknown=_listed(i, about, analysis),
            bins=tuple(about.bins.tolist()),
        )
    return results


def _critical_tails(i: int, analysis: Analysis) -> dict[int, tuple[float, float]]:
    """The score up and down beyond which groups are significant, by number of attributes."""
    groups = np.flatnonzero(analysis.is_tested[i])
    depth, critical = analysis.grouping.lattice.depth[groups], analysis.critical[:, i, groups]
    # of groups that fewer attributes name the score is lower
    return {
        int(at): tuple(critical[:, depth == at].max(axis=1).tolist()) for at in np.unique(depth)
    }


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
            called=about.metric.metric.called,
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


def _bounds(
    ends: tuple[float, float] | None,
) -> tuple[float | None, float | None] | None:
    """As the metric is declared; of a column of values nobody knows."""
    if ends is None or not np.isfinite(ends).any():
        return None
    low, high = (end if math.isfinite(end) else None for end in ends)
    return low, high


def _is_ratio_scale(i: int, analysis: Analysis) -> bool:
    known = analysis.measured.column(i).known
    metric = analysis.measured.metrics[i].metric
    return bool(len(known)) and metric.is_ratio_scale(float(known.min()))


def _group_values(i: int, groups: IntArray, analysis: Analysis) -> tuple[GroupValue, ...]:
    return tuple(
        GroupValue(
            group=analysis.grouping.group(int(at)).as_dict(),
            value=float(analysis.estimates.value[i, at]),
            support=int(analysis.moments.n[i, at]),
        )
        for at in groups
    )


def _undecided(i: int, groups: tuple[int, ...], analysis: Analysis) -> tuple[UndecidedGroup, ...]:
    low, high = analysis.estimates.simultaneous
    values = _group_values(i, np.array(groups, dtype=np.int64), analysis)
    return tuple(
        UndecidedGroup(
            **one.model_dump(),
            difference=float(analysis.moments.difference[i, at]),
            simultaneous=(float(low[i, at]), float(high[i, at])),
            p_adjusted=float(analysis.adjusted_p_values[i, at]),
        )
        for one, at in zip(values, groups, strict=True)
    )


def _chance(level: ChanceLevel) -> Chance:
    return Chance(
        mean=level.mean,
        q95=level.q95,
        p_value=level.p_value,
        permutations=level.n_permutations,
    )


def _verdict(
    i: int, verdict: MetricVerdict, bounds: UnknownBounds | None, analysis: Analysis
) -> NamedVerdict:
    exceeding = np.zeros(0, dtype=np.int64)
    at_worst = None
    if bounds is not None and verdict.tolerance is not None:
        largest = harm(
            _at_worst(i, bounds, analysis), analysis.measured.metrics[i].metric.higher_is_better
        )
        exceeding = np.flatnonzero((verdict.of_groups == RULED_OUT) & (largest > verdict.tolerance))
        if len(exceeding):
            worst = int(exceeding[np.argmax(largest[exceeding])])
            (at_worst,) = _unknown(i, [worst], bounds, analysis)
    return NamedVerdict(
        outcome=verdict.outcome,
        alternative=verdict.alternative,
        tolerance=verdict.tolerance,
        n_worse_by_more=int((verdict.of_groups == BY_MORE).sum()),
        n_worse=int((verdict.of_groups == WORSE).sum()),
        n_better=verdict.scope.n_better,
        n_ruled_out=verdict.scope.n_ruled_out,
        n_exceeding_at_worst=len(exceeding),
        at_worst=at_worst,
        n_open=verdict.scope.n_open,
        ruled_out_from=verdict.scope.ruled_out_from,
        open_share=verdict.scope.open_share,
        n_not_compared=verdict.scope.n_not_compared,
        certificate=tuple(
            CertifiedSize(support=point.n_users, harm=point.harm, n_groups=point.n_groups)
            for point in verdict.certificate
        ),
    )


def _end(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def finding_of(
    i: int, found: FoundGroup, analysis: Analysis, verdict: MetricVerdict | None = None
) -> Finding:
    """A finding, named."""
    at, estimates, grouping = found.position, analysis.estimates, analysis.grouping
    names = outcome_names(analysis.measured.metrics[i].metric.higher_is_better)
    return Finding(
        group=grouping.group(at).as_dict(),
        value=float(estimates.value[i, at]),
        support=int(analysis.moments.n[i, at]),
        n_users=int(grouping.lattice.n_users[at]),
        is_fully_scored=bool(analysis.is_fully_scored[at]),
        outcome=None if verdict is None else names[verdict.of_groups[at]],
        difference=float(estimates.difference[i, at]),
        raw_difference=float(estimates.raw_difference[i, at]),
        kept_share=float(analysis.kept_share[i, at]) if analysis.is_adjusted else None,
        shrunken_difference=float(estimates.shrunken_difference[i, at]),
        interval=(float(estimates.difference_low[i, at]), float(estimates.difference_high[i, at])),
        simultaneous=(
            _end(estimates.simultaneous.low[i, at]),
            _end(estimates.simultaneous.high[i, at]),
        ),
        p_value=float(analysis.p_values[i, at]),
        p_adjusted=float(analysis.adjusted_p_values[i, at]),
        random_sets=None if analysis.random_sets is None else float(analysis.random_sets[i, at]),
        interaction=None
        if found.interaction is None
        else _interaction(found.interaction, grouping),
        n_folded=found.n_folded,
        because_of=None if found.because_of is None else grouping.group(found.because_of).as_dict(),
        counts=tuple(found.histogram.own.tolist()),
        counts_of_others=tuple(found.histogram.others.tolist()),
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


def _listed(i: int, about: MetricAnalysis, analysis: Analysis) -> tuple[Unknown, ...]:
    if about.unknown is None:
        return ()
    better = analysis.measured.metrics[i].metric.higher_is_better
    findings = [group.position for group in about.findings]
    listed = listed_bounds(about.unknown, findings, better, analysis.grouping)
    return _unknown(i, listed, about.unknown, analysis)


def _unknown(
    i: int, groups: Sequence[int], bounds: UnknownBounds, analysis: Analysis
) -> tuple[Unknown, ...]:
    at_worst = _at_worst(i, bounds, analysis)
    return tuple(
        Unknown(
            group=analysis.grouping.group(at).as_dict(),
            n_known=int(bounds.n_known[at]),
            n_unknown=int(bounds.n_unknown[at]),
            difference=float(bounds.difference[at]),
            bounds=(float(bounds.low[at]), float(bounds.high[at])),
            at_worst=_end(at_worst[at]),
        )
        for at in groups
    )


def _at_worst(i: int, bounds: UnknownBounds, analysis: Analysis) -> FloatArray:
    """(n_groups,), the worst difference within the bounds, and chance on top of them."""
    difference = analysis.moments.difference[i]
    low, high = (end[i] for end in analysis.estimates.simultaneous)
    low = np.asarray(bounds.low + (low - difference))
    high = np.asarray(bounds.high + (high - difference))
    better = analysis.measured.metrics[i].metric.higher_is_better
    if better is None:
        return np.where(np.abs(low) > np.abs(high), low, high)
    return low if better else high
