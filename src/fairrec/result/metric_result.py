"""The result of each metric: its gap, what chance shows, and the findings."""

from __future__ import annotations

import math

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.metrics import MetricAtK
from fairrec.result.schema import Chance, Detectable, Finding, GroupValue, MetricResult
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.contributions import shapley_contributions
from fairrec.statistics.estimates import detectable_difference
from fairrec.statistics.findings import select_findings
from fairrec.statistics.permutation import PermutationTest, observed_gaps


def metric_results(analysis: Analysis) -> dict[str, MetricResult]:
    """The result of each per-user metric."""
    moments = analysis.moments
    is_compared = analysis.is_tested & analysis.is_whole & analysis.lattice.is_full
    gaps = observed_gaps(moments, analysis.lattice, is_compared)
    results = {}
    for i, metric in enumerate(analysis.metrics):
        full = np.flatnonzero(is_compared[i])
        most, least = best_and_worst(
            metric, analysis, full, analysis.estimates.value[i, full], moments.n[i, full]
        )
        findings, n_not_listed = _findings(i, metric, analysis)
        results[metric.name] = MetricResult(
            definition=metric.metric.definition,
            higher_is_better=metric.metric.higher_is_better,
            mean=float(moments.mean[i]),
            sd=float(moments.sd[i]),
            n_compared=int(moments.n_users[i]),
            critical=analysis.critical if math.isfinite(analysis.critical) else None,
            n_defined=int(moments.is_defined[i].sum()),
            n_undefined=int((analysis.is_scored & ~moments.is_defined[i]).sum()),
            n_groups=int(analysis.is_tested[i].sum()),
            is_tested=analysis.test is not None,
            # of a single group scored in full nothing can be said yet
            gap=float(gaps[i]) if len(full) > 1 or (most and moments.sample is None) else None,
            advantaged=most[0] if most else None,
            disadvantaged=least[0] if least else None,
            most_advantaged=most,
            most_disadvantaged=least,
            chance=_chance(i, gaps, analysis.test),
            findings=findings,
            n_significant=int(analysis.is_significant[i].sum()),
            n_not_listed=n_not_listed,
            detectable=_detectable(i, metric, analysis),
        )
    return results


def best_and_worst(
    metric: MetricAtK,
    analysis: Analysis,
    groups: IntArray,
    values: FloatArray,
    support: FloatArray,
) -> tuple[tuple[GroupValue, ...], tuple[GroupValue, ...]]:
    """The best and the worst served groups, as many as asked for.

    Where neither end is better, the highest and the lowest. Of equal values the group with most
    users comes first.
    """

    def named(order: IntArray) -> tuple[GroupValue, ...]:
        return tuple(
            GroupValue(
                group=analysis.group(int(groups[at])).as_dict(),
                value=float(values[at]),
                support=int(support[at]),
            )
            for at in order[: analysis.options.top]
        )

    highest, lowest = np.lexsort((-support, -values)), np.lexsort((-support, values))
    if metric.metric.higher_is_better is False:
        highest, lowest = lowest, highest
    return named(highest), named(lowest)


def _chance(i: int, gaps: FloatArray, test: PermutationTest | None) -> Chance | None:
    if test is None or np.isnan(gaps[i]):
        return None
    by_chance = test.gaps[:, i]
    return Chance(
        mean=float(by_chance.mean()),
        q95=float(np.quantile(by_chance, 0.95)),
        p_value=float(test.gap_p_values(gaps)[i]),
        permutations=test.n_permutations,
    )


def _findings(i: int, metric: MetricAtK, analysis: Analysis) -> tuple[tuple[Finding, ...], int]:
    """The findings, worst first, and how many groups there was no more room for."""
    test, estimates = analysis.test, analysis.estimates
    if test is None:
        return (), 0
    higher_is_better = metric.metric.higher_is_better
    selection = select_findings(
        i,
        analysis.is_significant[i],
        analysis.critical,
        {True: -1, False: 1, None: 0}[higher_is_better],
        analysis.moments,
        analysis.cells,
        analysis.lattice,
        analysis.options.n_threads,
    )
    names = [attribute.name for attribute in analysis.attributes]
    found = []
    for position, n_folded in zip(selection.groups, selection.n_folded, strict=True):
        is_whole = bool(analysis.is_whole[position])
        # a few users of a group cannot tell which of its conditions carries the difference
        carried = is_whole and shapley_contributions(
            i, analysis.lattice.codes[position], analysis.moments, analysis.cells
        )
        found.append(
            Finding(
                group=analysis.group(position).as_dict(),
                value=float(estimates.value[i, position]),
                support=int(analysis.moments.n[i, position]),
                n_users=int(analysis.lattice.n_users[position]),
                is_whole=is_whole,
                difference=float(estimates.difference[i, position]),
                interval=(
                    float(estimates.difference_low[i, position]),
                    float(estimates.difference_high[i, position]),
                ),
                p_value=float(test.p_values[i, position]),
                p_adjusted=float(analysis.adjusted_p_values[i, position]),
                contributions={names[at]: part for at, part in (carried or {}).items()},
                n_folded=n_folded,
            )
        )
    found.sort(key=lambda finding: _harm(finding.difference, higher_is_better), reverse=True)
    return tuple(found), selection.n_left


def _harm(difference: float, higher_is_better: bool | None) -> float:
    """How much worse than others a group is served; the distance where no end is better."""
    if higher_is_better is None:
        return abs(difference)
    return -difference if higher_is_better else difference


def _detectable(i: int, metric: MetricAtK, analysis: Analysis) -> tuple[Detectable, ...]:
    """The power of the audit at a few sizes, from the smallest group up to half of all users.

    Sizes at which even the largest possible difference would be missed are left out.
    """
    if not math.isfinite(analysis.critical):
        return ()
    low, high = metric.metric.bounds or (-math.inf, math.inf)
    n_users = analysis.moments.n_users[i]
    sizes = []
    size = analysis.min_users
    while size <= n_users / 2:
        sizes.append(size)
        size *= 10
    n = np.array(sizes, dtype=np.float64)
    error = analysis.moments.sd[i] * np.sqrt(n_users / (n * (n_users - n)))
    differences = detectable_difference(error, analysis.critical)
    return tuple(
        Detectable(support=size, difference=float(difference))
        for size, difference in zip(sizes, differences, strict=True)
        if difference <= high - low
    )
