"""Findings of each metric: groups that stand out by themselves, the gap, power, and histograms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, Field

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.groups.cells import Cells
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import members
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import badness, harm
from fairrec.metrics.measured import Column, Measured
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.explanations import Interaction, interactions
from fairrec.statistics.moments import Moments, quantiles
from fairrec.statistics.permutation import ROUNDING, extreme_gaps, gap_p_value
from fairrec.statistics.simultaneous import DOWN, UP
from fairrec.statistics.unknown import UnknownBounds, unknown_bounds

MAX_FINDINGS = 200
"""Findings listed for a metric; each costs a pass over the lattice to set aside."""
WINDOW = 1.0
"""Scores by which a group at the worse end may stand out less and still come first."""


class Selected(NamedTuple):
    """A group that stands out by itself.

    Parameters
    ----------
    position : in the lattice
    n_folded : significant groups that no longer stand out once this one is set aside
    because_of : the group that is served better and makes this one stand out; None for most
    """

    position: int
    n_folded: int
    because_of: int | None = None


def select_findings(
    metric: int,
    is_significant: BoolArray,
    critical: FloatArray,
    higher_is_better: bool | None,
    moments: Moments,
    grouping: Grouping,
    threads: int = 1,
    error: FloatArray | None = None,
) -> tuple[list[Selected], int]:
    """Take the strongest group, set its difference aside, keep what still stands out; repeat.

    Women under 25 are no second finding when all women are served alike, and women are none
    when only those under 25 are worse off: in both cases one group explains the other. But where
    somebody is worse off it is always said who, also if a group that is served better explains it.

    Parameters
    ----------
    is_significant : (n_groups,), adjusted p-value at most alpha
    critical : (2,) or (2, n_groups), score up and down that a group must keep to be listed
    higher_is_better : the worse end comes first where it stands out about as far, such as the
        worse of the two values of an attribute
    error : (n_groups,), of the differences, in which scores are; None for the chance error

    Returns
    -------
    selected : strongest first
    n_left : significant groups left over when the list was full
    """
    cells, lattice = grouping.cells, grouping.lattice
    # a group in a sample stands for all its users
    n_per_row = moments.size_per_row[metric]
    n, to_total = moments.size[metric], moments.weights.total[metric]
    if moments.sample is not None:
        n_per_row = np.ones(len(cells.of_user), dtype=bool)
        n = lattice.n_users.astype(np.float64)
        to_total = n * np.maximum(len(n_per_row) - n, 0) / len(n_per_row)
    n_per_cell = cells.sums(n_per_row)
    with np.errstate(invalid="ignore"):
        scale = np.nan_to_num((moments.chance_error[metric] if error is None else error) * to_total)
        residual = np.nan_to_num(moments.difference[metric] * to_total)
    sign = np.sign(residual)
    at_first = np.divide(residual, scale, out=np.zeros_like(residual), where=scale > 0)
    least = np.where(sign > 0, critical[UP], critical[DOWN])
    depth = lattice.depth
    open_groups = np.flatnonzero(is_significant & (scale > 0))
    chosen: list[Selected] = []
    folded_into = np.full(len(n), -1)
    while len(open_groups) and len(chosen) < MAX_FINDINGS:
        score = residual[open_groups] / scale[open_groups]
        is_better_end = harm(score, higher_is_better) <= 0
        # two ends of one difference stand out alike, and luck decides which does more
        reach = np.abs(score) + np.where(is_better_end, 0.0, WINDOW)
        # ties: the worse end, the fewer conditions, the smaller group
        order = np.lexsort(
            (open_groups, n[open_groups], depth[open_groups], is_better_end, -np.round(reach, 9))
        )
        best = int(open_groups[order[0]])
        few = int(grouping.complement[best])
        if grouping.is_rest[best] and few in open_groups:
            # one difference, of which the few are named
            best = few
        is_member = members(lattice.codes[best], cells)
        overlap = lattice.sums((n_per_cell * is_member)[None], threads)[0]
        # lift the group to the mean of all others, then centre again within strata
        lift = -residual[best] / to_total[best]
        residual += lift * (overlap - _expected(is_member, n, best, n_per_row, moments, grouping))
        kept = np.abs(residual[open_groups] / scale[open_groups]) >= least[open_groups]
        # what now stands out the other way would be listed with a difference that misleads
        kept &= np.sign(residual[open_groups]) == sign[open_groups]
        kept &= open_groups != best
        chosen.append(Selected(best, int(len(open_groups) - kept.sum() - 1)))
        folded_into[open_groups[~kept]] = best
        open_groups = open_groups[kept]
    positions = [one.position for one in chosen]
    hidden = _worst_of_folded(at_first, folded_into, positions, higher_is_better, depth)
    if hidden is not None:
        explains = int(folded_into[hidden])
        at = positions.index(explains)
        chosen[at] = chosen[at]._replace(n_folded=chosen[at].n_folded - 1)
        chosen.append(Selected(hidden, 0, explains))
    return chosen, len(open_groups)


def _worst_of_folded(
    score: FloatArray,
    folded_into: IntArray,
    chosen: list[int],
    higher_is_better: bool | None,
    depth: IntArray,
) -> int | None:
    """The group at the worse end that stands out most, where none of those chosen is there."""
    if higher_is_better is None:
        return None
    harms = harm(score, higher_is_better)
    candidates = np.flatnonzero((folded_into >= 0) & (harms > 0))
    if not len(candidates) or (harms[chosen] > 0).any():
        return None
    # ties: the fewer conditions
    order = np.lexsort((candidates, depth[candidates], -np.round(harms[candidates], 9)))
    return int(candidates[order[0]])


def _expected(
    is_member: BoolArray,
    n: FloatArray,
    group: int,
    n_per_row: BoolArray | FloatArray,
    moments: Moments,
    grouping: Grouping,
) -> FloatArray:
    """(n_groups,), the users each group would share with one if its users were drawn at random.

    At random within strata: as many as it has there, by the share of each that is in the one.
    """
    cells, strata = grouping.cells, moments.strata
    if strata.n_strata == 1:
        return np.asarray(n * (n[group] / n_per_row.sum()))
    in_group = strata.sums(n_per_row * is_member[cells.of_user])
    share = in_group / np.maximum(strata.sums(n_per_row), 1)
    per_cell = cells.sums(share[strata.of_user] * n_per_row)
    return np.asarray(grouping.lattice.sums(per_cell[None])[0])


N_BINS = 20
MOST_LEVELS = 12
"""A metric with so few values has a bin for each."""
_OUTER = 0.005
_FAR = 3.0
"""A tail that reaches so many times as far as nearly all values is in one wide bin."""


def bin_edges(values: FloatArray, n: FloatArray | None = None) -> FloatArray:
    """Where the bins of a metric begin and end; empty where there is nothing to see.

    Few values have a bin each, halfway to the next ones; else there are `N_BINS`, all alike but
    for the outer ones, which hold far tails.

    Parameters
    ----------
    n : users who have each value; None where each is a user's

    >>> bin_edges(np.array([0.0, 1.0, 1.0, 0.0])).tolist()
    [-0.5, 0.5, 1.5]
    """
    is_known = ~np.isnan(values)
    values, n = values[is_known], np.ones(is_known.sum()) if n is None else n[is_known]
    levels = np.unique(values)
    if len(levels) < 2:
        return np.zeros(0)
    if len(levels) <= MOST_LEVELS:
        between = (levels[1:] + levels[:-1]) / 2
        first, last = 2 * levels[0] - between[0], 2 * levels[-1] - between[-1]
        return np.concatenate([[first], between, [last]])
    low, high = levels[0], levels[-1]
    inner_low, inner_high = quantiles(values, n, [_OUTER, 1 - _OUTER])
    if high - low > _FAR * (inner_high - inner_low) > 0:
        low, high = inner_low, inner_high
    edges = np.linspace(low, high, N_BINS + 1)
    edges[0], edges[-1] = levels[0], levels[-1]
    return edges


def histograms(
    metric: int, groups: Sequence[int], edges: FloatArray, measured: Measured, grouping: Grouping
) -> list[tuple[IntArray, IntArray]]:
    """Users in each bin of each group, by whom it is known, and of all others.

    Parameters
    ----------
    groups : positions in the lattice
    """
    if not len(edges):
        nothing = np.zeros(0, dtype=np.int64)
        return [(nothing, nothing) for _ in groups]
    cells, column = grouping.cells, measured.on_levels.column(metric)
    # whoever is in a group, its users are those of some cells
    everyone = _counts_by_cell(column, column.n > 0, edges, cells)
    sampled = _counts_by_cell(column, measured.is_reference, edges, cells)
    is_scored = np.bincount(cells.of_user, ~measured.is_scored, len(cells)) == 0
    n_sampled = sampled.sum(axis=0)
    found = []
    for group in groups:
        is_member = members(grouping.lattice.codes[group], cells)
        others = n_sampled - sampled[is_member].sum(axis=0)
        # a group that is not fully scored is known by those of it who were drawn at random
        own = everyone if is_scored[is_member].all() else sampled
        found.append((own[is_member].sum(axis=0), others))
    return found


def _counts_by_cell(
    column: Column, is_counted: BoolArray, edges: FloatArray, cells: Cells
) -> IntArray:
    """(n_cells, n_bins)."""
    n_bins = len(edges) - 1
    at = np.searchsorted(edges[1:-1], column.values, side="right")
    place = cells.of_user.astype(np.int64) * n_bins + at
    counts = np.bincount(place, np.where(is_counted, column.n, 0.0), len(cells) * n_bins)
    return counts.astype(np.int64).reshape(len(cells), n_bins)


class Chance(BaseModel, frozen=True, extra="forbid"):
    """The null distribution of the gap: values are permuted across users, or users drawn again."""

    mean: float
    q95: float = Field(description="95% of draws have a gap of at most this")
    # both ends as far apart in standard errors: in the metric itself small groups are far apart by
    # chance, whatever happens to the large ones
    p_value: float = Field(
        description="how often the null distribution has a gap at least this large"
    )
    permutations: int = Field(description="of items, how often users were drawn again")


class Detectable(BaseModel, frozen=True, extra="forbid"):
    """The power of the audit for groups of one size."""

    support: int
    difference: float = Field(description="smallest true harm shown with 80% probability")


@dataclass(frozen=True, slots=True)
class FoundGroup:
    """A finding.

    Parameters
    ----------
    position, n_folded, because_of : as of `Selected`
    interaction : whether the combination of its conditions carries the difference; None where it
        has one, or cannot be looked at
    counts, counts_of_others : (n_bins,), users in each bin of the metric
    """

    position: int
    n_folded: int
    because_of: int | None
    interaction: Interaction | None
    counts: IntArray
    counts_of_others: IntArray


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
    detectable : by size of a group
    undecided : significant groups of which the interval for all groups at once includes 0
    varying : groups that vary more than others, and are not shown to be worse or better
    unknown : bounds of all groups, to which users with unknown attributes may belong; None where
        there are none
    bins : edges of the histograms of findings; empty where there are none
    """

    gap: float | None
    best: IntArray
    worst: IntArray
    chance: Chance | None
    findings: tuple[FoundGroup, ...]
    n_not_listed: int
    detectable: tuple[Detectable, ...]
    undecided: tuple[int, ...]
    varying: tuple[int, ...]
    unknown: UnknownBounds | None
    bins: FloatArray


def analyse_metrics(analysis: Analysis) -> tuple[MetricAnalysis, ...]:
    """All metrics of an analysis."""
    lattice, moments = analysis.grouping.lattice, analysis.moments
    is_large = moments.n >= analysis.grouping.min_users
    is_compared = is_large & analysis.is_fully_scored & lattice.is_full
    gaps = extreme_gaps(analysis.raw.deviation, is_compared)
    spans = extreme_gaps(analysis.score, is_compared)
    found = []
    for i, metric in enumerate(analysis.measured.metrics):
        full = np.flatnonzero(is_compared[i])
        best, worst = best_and_worst(
            metric, analysis.estimates.value[i, full], moments.n[i, full], analysis.options.top
        )
        selected, n_not_listed = _selected(i, analysis.is_beyond_chance[i], analysis)
        column = analysis.measured.on_levels.column(i)
        bins = bin_edges(column.known, column.n_known) if selected else np.zeros(0)
        findings = _findings(i, selected, bins, analysis)
        # of a single fully scored group nothing can be said yet
        has_gap = len(full) > (0 if moments.sample is None else 1)
        found.append(
            MetricAnalysis(
                gap=float(gaps[i]) if has_gap else None,
                best=full[best],
                worst=full[worst],
                chance=_chance(i, float(gaps[i]), float(spans[i]), analysis),
                findings=findings,
                n_not_listed=n_not_listed,
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


def _findings(
    i: int, selected: Sequence[Selected], bins: FloatArray, analysis: Analysis
) -> tuple[FoundGroup, ...]:
    """The findings, worst first."""
    measured, grouping = analysis.measured, analysis.grouping
    groups = [one.position for one in selected]
    carried = interactions(i, groups, measured, grouping)
    counts = histograms(i, groups, bins, measured, grouping)
    found = [
        FoundGroup(*one, interaction, *both)
        for one, interaction, both in zip(selected, carried, counts, strict=True)
    ]
    harms = measured.metrics[i].metric.harm(analysis.moments.difference[i])
    return tuple(sorted(found, key=lambda group: float(harms[group.position]), reverse=True))


def _beside_findings(i: int, is_one: BoolArray, analysis: Analysis) -> tuple[int, ...]:
    """Those of some groups that are neither explained by a finding nor by one another."""
    if not is_one.any():
        return ()
    listed, _ = _selected(i, analysis.is_beyond_chance[i] | is_one, analysis)
    return tuple(one.position for one in listed if is_one[one.position])


def _selected(i: int, is_listed: BoolArray, analysis: Analysis) -> tuple[list[Selected], int]:
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


def _detectable(i: int, analysis: Analysis) -> tuple[Detectable, ...]:
    """The power of the audit at a few sizes, from the smallest group up to half of all users.

    Sizes at which even the largest possible harm would be missed are left out, and all of them
    within strata: there it depends on who shares a group's circumstances.
    """
    if analysis.is_adjusted:
        return ()
    n_users = analysis.moments.n_users[i]
    sizes = []
    size = analysis.grouping.min_users
    while size <= n_users / 2:
        sizes.append(size)
        size *= 10
    harms = analysis.find_detectable(i, np.array(sizes, dtype=np.float64))
    return tuple(
        Detectable(support=size, difference=float(harm))
        for size, harm in zip(sizes, harms, strict=True)
        if not math.isnan(harm)
    )


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
        of_all = metric.compute_pooled(candidates.scores, candidates.labels)
        if np.isnan(of_all):
            raise InputError(
                f"Metric '{metric.name}' is undefined: all candidates are relevant, or none is. "
                "Fix the labels or leave the metric out."
            )
        is_large = grouping.cells.n_users >= grouping.min_users
        values = pooled_per_cell(metric.compute_pooled, inputs, grouping, is_large)[
            grouping.cell_of_full
        ]
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
