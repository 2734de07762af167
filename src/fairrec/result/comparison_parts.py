"""A comparison in named parts."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.result.change_schema import Change
from fairrec.result.changes import gap_change
from fairrec.result.comparison_schema import (
    MOST_GROUPS,
    ComparedAudit,
    GroupComparison,
    MetricComparison,
)
from fairrec.result.group_table import group_in
from fairrec.result.metric_schema import CertifiedSize, MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.compared import ComparedMetric
from fairrec.statistics.outcome import BY_MORE, OPEN, RULED_OUT, WORSE, outcome_names


def compared_audit(summary: AuditSummary, name: str) -> ComparedAudit:
    """One of the two audits.

    Parameters
    ----------
    name : of its folder
    """
    return ComparedAudit(
        name=name,
        title=summary.title,
        model=summary.model,
        fairrec_version=summary.fairrec_version,
        n_users=summary.n_users,
    )


def metric_comparison(
    found: ComparedMetric,
    conditions: pl.DataFrame,
    everyone: Change | None,
    results: tuple[MetricResult, MetricResult],
) -> MetricComparison:
    """One metric in both audits.

    Parameters
    ----------
    conditions : one row a group: a text column an attribute, and the depth
    results : of both audits, base first
    """
    base, candidate = results
    is_worse = np.isin(found.of_groups[found.order], (BY_MORE, WORSE))
    improved = found.order[::-1][found.is_improved[found.order[::-1]]]
    return MetricComparison(
        called=candidate.called,
        higher_is_better=candidate.higher_is_better,
        everyone=everyone,
        gap=gap_change(base, candidate),
        matters=found.matters,
        is_conclusive=found.is_conclusive,
        outcome=found.outcome,
        n_groups=len(found.of_groups),
        n_unknown=int((~found.groups.is_known).sum()),
        n_worse_by_more=found.n_of(BY_MORE),
        n_worse=found.n_of(WORSE),
        n_improved=int(found.is_improved.sum()),
        n_ruled_out=found.n_of(RULED_OUT),
        n_open=found.n_of(OPEN),
        ruled_out_from=found.ruled_out_from,
        certificate=tuple(
            CertifiedSize(support=point.n_users, harm=point.harm, n_groups=point.n_groups)
            for point in found.certificate
        ),
        worse=_groups(found, conditions, found.order[is_worse]),
        improved=_groups(found, conditions, improved),
    )


def _groups(
    found: ComparedMetric, conditions: pl.DataFrame, rows: IntArray
) -> tuple[GroupComparison, ...]:
    """The first of some groups, by their positions."""
    groups, named = found.groups, conditions.drop("depth")
    names = outcome_names(found.higher_is_better)
    return tuple(
        GroupComparison(
            group=group_in(named.row(at, named=True)),
            support=int(groups.n[at]),
            before=float(groups.before[at]),
            after=float(groups.after[at]),
            change=float(groups.change[at]),
            simultaneous=(float(groups.interval.low[at]), float(groups.interval.high[at])),
            outcome=names[found.of_groups[at]],
        )
        for at in map(int, rows[:MOST_GROUPS])
    )
