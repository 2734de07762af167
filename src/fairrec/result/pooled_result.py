"""Results of pooled metrics: full combinations only, no tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.inputs.candidates import CandidateLists
from fairrec.metrics import MetricAtK
from fairrec.result.metric_result import best_and_worst
from fairrec.result.schema import MetricResult
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.pooled import pooled_per_cell


def pooled_results(
    wanted: Sequence[MetricAtK],
    candidates: CandidateLists,
    list_of_user: IntArray,
    analysis: Analysis,
) -> tuple[dict[str, MetricResult], dict[str, tuple[IntArray, FloatArray]]]:
    """The result of each pooled metric, and its groups with their values."""
    results, groups_and_values = {}, {}
    cells = analysis.cells
    is_large = cells.n_users >= analysis.min_users
    # cells and full combinations of the lattice are in the same order
    full = np.flatnonzero(analysis.lattice.is_full)
    for metric in wanted:
        if not metric.metric.pooled:
            continue
        assert candidates.labels is not None
        of_all = metric.of_pool(candidates.scores, candidates.labels)
        if np.isnan(of_all):
            raise InputError(
                f"Metric '{metric.name}' is undefined: all candidates are relevant, or none is. "
                "Mend the labels or leave the metric out."
            )
        per_cell = pooled_per_cell(metric.of_pool, candidates, cells, list_of_user, is_large)
        in_lattice = per_cell[is_large]
        is_defined = ~np.isnan(in_lattice)
        groups, values = full[is_defined], in_lattice[is_defined]
        n_undefined = int(analysis.lattice.n_users[full[~is_defined]].sum())
        support = analysis.lattice.n_users[groups].astype(np.float64)
        most, least = best_and_worst(metric, analysis, groups, values, support)
        results[metric.name] = MetricResult(
            definition=metric.metric.definition,
            higher_is_better=metric.metric.higher_is_better,
            mean=of_all,
            n_defined=analysis.n_users - n_undefined,
            n_undefined=n_undefined,
            n_groups=len(groups),
            is_tested=False,
            gap=float(np.ptp(values)) if len(values) else None,
            advantaged=most[0] if most else None,
            disadvantaged=least[0] if least else None,
            most_advantaged=most,
            most_disadvantaged=least,
            chance=None,
            findings=(),
            n_significant=0,
            n_not_listed=0,
            detectable=(),
        )
        groups_and_values[metric.name] = (groups, values)
    return results, groups_and_values
