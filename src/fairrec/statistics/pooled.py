"""Metrics of a group's pooled candidates, which are no mean over users and are not tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.statistics.metric_analysis import best_and_worst


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
