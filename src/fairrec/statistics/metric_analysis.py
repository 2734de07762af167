"""What an analysis says about one metric: its gap and its null distribution, findings, power."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import badness
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.estimates import detectable_difference
from fairrec.statistics.findings import select_findings
from fairrec.statistics.interaction import Interaction, interactions
from fairrec.statistics.permutation import gap_p_value, observed_gaps
from fairrec.statistics.unknown import UnknownBounds, unknown_bounds


@dataclass(frozen=True, slots=True)
class ChanceLevel:
    """The null distribution of the gap.

    Parameters
    ----------
    p_value : how often it is at least as large as the observed one
    """

    mean: float
    q95: float
    p_value: float
    n_permutations: int


@dataclass(frozen=True, slots=True)
class FoundGroup:
    """A group that stands out by itself.

    Parameters
    ----------
    position : in the lattice
    n_folded : significant groups that no longer stand out once this one is set aside
    interaction : whether the combination of its conditions carries the difference; None where it
        has one, or cannot be looked at
    """

    position: int
    n_folded: int
    interaction: Interaction | None


@dataclass(frozen=True, slots=True)
class MetricAnalysis:
    """One metric of an analysis.

    Parameters
    ----------
    gap : between the best and the worst served intersection; None where it cannot be told
    best, worst : intersections of all attributes, positions in the lattice, as many as asked for
    findings : worst first
    n_not_listed : significant groups there was no more room for
    detectable : size of a group -> the smallest true difference reported with 80% probability
    unknown : bounds of groups to which users with unknown attributes may belong
    """

    gap: float | None
    best: IntArray
    worst: IntArray
    chance: ChanceLevel | None
    findings: tuple[FoundGroup, ...]
    n_not_listed: int
    detectable: dict[int, float]
    unknown: tuple[UnknownBounds, ...]


def analyse_metrics(analysis: Analysis) -> tuple[MetricAnalysis, ...]:
    """All metrics of an analysis."""
    lattice, moments = analysis.grouping.lattice, analysis.moments
    is_compared = analysis.is_tested & analysis.is_fully_scored & lattice.is_full
    gaps = observed_gaps(moments, lattice, is_compared)
    found = []
    for i, metric in enumerate(analysis.measured.metrics):
        full = np.flatnonzero(is_compared[i])
        best, worst = best_and_worst(
            metric, analysis.estimates.value[i, full], moments.n[i, full], analysis.options.top
        )
        findings, n_not_listed = _findings(i, metric, analysis)
        # of a single fully scored group nothing can be said yet
        has_gap = len(full) > (0 if moments.sample is None else 1)
        found.append(
            MetricAnalysis(
                gap=float(gaps[i]) if has_gap else None,
                best=full[best],
                worst=full[worst],
                chance=_chance(i, float(gaps[i]), analysis),
                findings=findings,
                n_not_listed=n_not_listed,
                detectable=_detectable(i, metric, analysis),
                unknown=unknown_bounds(
                    i, [group.position for group in findings], analysis.measured, analysis.grouping
                ),
            )
        )
    return tuple(found)


def best_and_worst(
    metric: MetricAtK, values: FloatArray, support: FloatArray, top: int
) -> tuple[IntArray, IntArray]:
    """Positions of the best and of the worst served groups, as many as asked for.

    Where neither end is better, of the highest and the lowest. Of equal values the group with
    most users comes first.
    """
    bad = badness(values, metric.metric.higher_is_better)
    return np.lexsort((-support, bad))[:top], np.lexsort((-support, -bad))[:top]


def _chance(i: int, gap: float, analysis: Analysis) -> ChanceLevel | None:
    if analysis.test is None or math.isnan(gap):
        return None
    null_gaps = analysis.test.gaps[:, i]
    return ChanceLevel(
        mean=float(null_gaps.mean()),
        q95=float(np.quantile(null_gaps, 0.95)),
        p_value=gap_p_value(null_gaps, gap),
        n_permutations=analysis.test.n_permutations,
    )


def _findings(i: int, metric: MetricAtK, analysis: Analysis) -> tuple[tuple[FoundGroup, ...], int]:
    """The findings, worst first, and how many groups there was no more room for."""
    if analysis.test is None:
        return (), 0
    moments, grouping = analysis.moments, analysis.grouping
    selection = select_findings(
        i,
        analysis.is_significant[i],
        analysis.critical,
        metric.metric.higher_is_better,
        moments,
        grouping,
        analysis.options.n_threads,
    )
    carried = interactions(i, selection.groups, analysis.measured, grouping)
    found = [
        FoundGroup(*parts)
        for parts in zip(selection.groups, selection.n_folded, carried, strict=True)
    ]
    harm = metric.metric.harm(analysis.estimates.difference[i])
    found.sort(key=lambda group: float(harm[group.position]), reverse=True)
    return tuple(found), selection.n_left


def _detectable(i: int, metric: MetricAtK, analysis: Analysis) -> dict[int, float]:
    """The power of the audit at a few sizes, from the smallest group up to half of all users.

    Sizes at which even the largest possible difference would be missed are left out.
    """
    if not math.isfinite(analysis.critical):
        return {}
    low, high = metric.metric.bounds or (-math.inf, math.inf)
    n_users = analysis.moments.n_users[i]
    sizes = []
    size = analysis.grouping.min_users
    while size <= n_users / 2:
        sizes.append(size)
        size *= 10
    n = np.array(sizes, dtype=np.float64)
    error = analysis.moments.sd[i] * np.sqrt(n_users / (n * (n_users - n)))
    differences = detectable_difference(error, analysis.critical)
    return {
        size: float(difference)
        for size, difference in zip(sizes, differences, strict=True)
        if difference <= high - low
    }
