"""Ratios and inequality, named."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fairrec.core.arrays import FloatArray
from fairrec.metrics import MetricAtK
from fairrec.result.parts import GroupValue
from fairrec.result.ratios_schema import CategoryRatios, GroupRatios, MetricRatios, Ratios, Split
from fairrec.statistics import inequality, ratios
from fairrec.statistics.ratio_scale import WhyNot


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
