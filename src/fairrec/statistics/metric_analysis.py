"""What an analysis says about one metric: its gap and its null distribution, findings, power."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import badness
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.distribution import Histogram, bin_edges, histograms
from fairrec.statistics.findings import Interaction, Selection, interactions, select_findings
from fairrec.statistics.permutation import ROUNDING, Extremes, gap_p_value
from fairrec.statistics.unknown import UnknownBounds, unknown_bounds


@dataclass(frozen=True, slots=True)
class ChanceLevel:
    """The null distribution of the gap.

    Parameters
    ----------
    p_value : how often both ends are at least as far apart in standard errors. In the metric itself
        small groups are far apart by chance, whatever happens to the large ones
    n_permutations : of items, how often users were drawn again
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
    because_of : the group that is served better and makes this one stand out; None for most
    interaction : whether the combination of its conditions carries the difference; None where it
        has one, or cannot be looked at
    histogram : in the bins of the metric
    """

    position: int
    n_folded: int
    because_of: int | None
    interaction: Interaction | None
    histogram: Histogram


@dataclass(frozen=True, slots=True)
class MetricAnalysis:
    """One metric of an analysis.

    Parameters
    ----------
    gap : between the best and the worst served intersection; None where it cannot be told
    best, worst : intersections of all attributes, positions in the lattice, as many as asked for;
        no group is both, and where all are alike none is either
    findings : worst first
    n_not_listed : significant groups there was no more room for
    detectable : size of a group -> the smallest true harm shown with 80% probability
    undecided : significant groups of which the interval for all groups at once includes 0
    varying : groups that vary more than others, and are not shown to be worse or better
    unknown : bounds of all groups, to which users with unknown attributes may belong; None where
        there are none
    bins : edges of the histograms of findings; empty where there are none
    """

    gap: float | None
    best: IntArray
    worst: IntArray
    chance: ChanceLevel | None
    findings: tuple[FoundGroup, ...]
    n_not_listed: int
    detectable: dict[int, float]
    undecided: tuple[int, ...]
    varying: tuple[int, ...]
    unknown: UnknownBounds | None
    bins: FloatArray


def analyse_metrics(analysis: Analysis) -> tuple[MetricAnalysis, ...]:
    """All metrics of an analysis."""
    lattice, moments = analysis.grouping.lattice, analysis.moments
    is_large = moments.n >= analysis.grouping.min_users
    is_compared = is_large & analysis.is_fully_scored & lattice.is_full
    ends = Extremes(lattice, is_compared)
    gaps = ends.range_of(analysis.raw.deviation)
    spans = ends.range_of(analysis.score)
    found = []
    for i, metric in enumerate(analysis.measured.metrics):
        full = np.flatnonzero(is_compared[i])
        best, worst = best_and_worst(
            metric, analysis.estimates.value[i, full], moments.n[i, full], analysis.options.top
        )
        selection = _selected(i, analysis.is_beyond_chance[i], analysis)
        column = analysis.measured.on_levels.column(i)
        bins = bin_edges(column.known, column.n_known) if selection.groups else np.zeros(0)
        findings = _findings(i, metric, selection, bins, analysis)
        # of a single fully scored group nothing can be said yet
        has_gap = len(full) > (0 if moments.sample is None else 1)
        found.append(
            MetricAnalysis(
                gap=float(gaps[i]) if has_gap else None,
                best=full[best],
                worst=full[worst],
                chance=_chance(i, float(gaps[i]), float(spans[i]), analysis),
                findings=findings,
                n_not_listed=selection.n_left,
                detectable=_detectable(i, analysis),
                undecided=_beside_findings(i, analysis.is_undecided[i], analysis),
                varying=_beside_findings(i, analysis.only_varies[i], analysis),
                unknown=unknown_bounds(
                    i, [group.position for group in findings], analysis.measured, analysis.grouping
                ),
                bins=bins,
            )
        )
    return tuple(found)


def best_and_worst(
    metric: MetricAtK, values: FloatArray, support: FloatArray, top: int
) -> tuple[IntArray, IntArray]:
    """Positions of the best and of the worst served groups, as many as asked for.

    Where neither end is better, of the highest and the lowest. Of equal values the group with
    most users comes first. No group is at both ends, and where all values are alike none is at any.
    """
    if not len(values) or np.ptp(values) <= ROUNDING * np.abs(values).max():
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    bad = badness(values, metric.metric.higher_is_better)
    n = min(top, len(values) // 2)
    worst, best = np.lexsort((-support, -bad)), np.lexsort((-support, bad))
    worst = worst[bad[worst] > bad.min()][:n]
    return best[(bad[best] < bad.max()) & ~np.isin(best, worst)][:n], worst


def _chance(i: int, gap: float, span: float, analysis: Analysis) -> ChanceLevel | None:
    tested_by = analysis.tested_by
    if tested_by is None or math.isnan(gap):
        return None
    null_gaps = tested_by.gaps[:, i]
    return ChanceLevel(
        mean=float(null_gaps.mean()),
        q95=float(np.quantile(null_gaps, 0.95)),
        p_value=gap_p_value(tested_by.spans[:, i], span),
        n_permutations=len(null_gaps),
    )


def _findings(
    i: int, metric: MetricAtK, selection: Selection, bins: FloatArray, analysis: Analysis
) -> tuple[FoundGroup, ...]:
    """The findings, worst first."""
    moments, grouping = analysis.moments, analysis.grouping
    carried = interactions(i, selection.groups, analysis.measured, grouping)
    spread = histograms(i, selection.groups, bins, analysis.measured, grouping)
    found = [
        FoundGroup(*parts)
        for parts in zip(
            selection.groups,
            selection.n_folded,
            selection.because_of,
            carried,
            spread,
            strict=True,
        )
    ]
    harm = metric.metric.harm(moments.difference[i])
    found.sort(key=lambda group: float(harm[group.position]), reverse=True)
    return tuple(found)


def _beside_findings(i: int, is_one: BoolArray, analysis: Analysis) -> tuple[int, ...]:
    """Those of some groups that are neither explained by a finding nor by one another."""
    if not is_one.any():
        return ()
    listed = _selected(i, analysis.is_beyond_chance[i] | is_one, analysis)
    return tuple(group for group in listed.groups if is_one[group])


def _selected(i: int, is_listed: BoolArray, analysis: Analysis) -> Selection:
    return select_findings(
        i,
        is_listed,
        analysis.critical[:, i],
        analysis.measured.metrics[i].metric.higher_is_better,
        analysis.moments,
        analysis.grouping,
        analysis.options.n_threads,
        analysis.tested_error[i],
    )


def _detectable(i: int, analysis: Analysis) -> dict[int, float]:
    """The power of the audit at a few sizes, from the smallest group up to half of all users.

    Sizes at which even the largest possible harm would be missed are left out, and all of them
    within strata: there it depends on who shares a group's circumstances.
    """
    if analysis.is_adjusted:
        return {}
    n_users = analysis.moments.n_users[i]
    sizes = []
    size = analysis.grouping.min_users
    while size <= n_users / 2:
        sizes.append(size)
        size *= 10
    harms = analysis.detectable_in(i, np.array(sizes, dtype=np.float64))
    return {
        size: float(harm) for size, harm in zip(sizes, harms, strict=True) if not math.isnan(harm)
    }


@dataclass(frozen=True, slots=True)
class PooledAnalysis:
    """One pooled metric.

    Parameters
    ----------
    of_all : the value of everyone's candidates
    groups : intersections of all attributes where it is defined, positions in the lattice
    values : of these
    best, worst : positions in `groups`, as many as asked for
    n_undefined : users of the groups where it is undefined
    """

    metric: MetricAtK
    of_all: float
    groups: IntArray
    values: FloatArray
    best: IntArray
    worst: IntArray
    n_undefined: int

    @property
    def gap(self) -> float | None:
        """Largest minus smallest value."""
        return float(np.ptp(self.values)) if len(self.values) else None


def analyse_pooled(
    metrics: Sequence[MetricAtK], inputs: AuditInputs, grouping: Grouping, top: int
) -> tuple[PooledAnalysis, ...]:
    """The pooled ones among some metrics, each over all intersections of all attributes."""
    found = []
    candidates, lattice = inputs.candidates, grouping.lattice
    for metric in metrics:
        if not metric.metric.pooled:
            continue
        assert candidates.labels is not None
        of_all = metric.of_pool(candidates.scores, candidates.labels)
        if np.isnan(of_all):
            raise InputError(
                f"Metric '{metric.name}' is undefined: all candidates are relevant, or none is. "
                "Fix the labels or leave the metric out."
            )
        is_large = grouping.cells.n_users >= grouping.min_users
        values = pooled_per_cell(metric.of_pool, inputs, grouping, is_large)[grouping.cell_of_full]
        is_defined = ~np.isnan(values)
        groups, values = grouping.full[is_defined], values[is_defined]
        best, worst = best_and_worst(
            metric, values, lattice.n_users[groups].astype(np.float64), top
        )
        n_undefined = int(lattice.n_users[grouping.full[~is_defined]].sum())
        found.append(PooledAnalysis(metric, of_all, groups, values, best, worst, n_undefined))
    return tuple(found)


def pooled_per_cell(
    compute: Callable[[FloatArray, FloatArray], float],
    inputs: AuditInputs,
    grouping: Grouping,
    wanted: BoolArray,
) -> FloatArray:
    """(n_cells,), the metric of each wanted cell's pool of candidates; NaN for the others."""
    candidates, cells = inputs.candidates, grouping.cells
    assert candidates.labels is not None
    values = np.full(len(cells), np.nan)
    by_cell = inputs.list_of_user[np.argsort(cells.of_user, kind="stable")]
    bounds = np.concatenate([[0], np.cumsum(cells.n_users)])
    for cell in np.flatnonzero(wanted):
        lists = by_cell[bounds[cell] : bounds[cell + 1]]
        starts, stops = candidates.offsets[lists], candidates.offsets[lists + 1]
        rows = np.concatenate(
            [np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)]
        )
        values[cell] = compute(candidates.scores[rows], candidates.labels[rows])
    return values
