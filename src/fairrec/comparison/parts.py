"""The parts of a comparison: its metrics, its groups and the table of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from fairrec.comparison.losses import LOSSES, ComparedMetric, Loss
from fairrec.comparison.result import (
    MOST_GROUPS,
    ComparedAudit,
    GroupComparison,
    MetricComparison,
)
from fairrec.core.arrays import IntArray
from fairrec.core.errors import InputError, plain
from fairrec.result.metric_result import gap_change
from fairrec.result.metric_schema import Change, MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.tables import row_group

NUMBERS = (
    *("before", "after", "change", "simultaneous_low", "simultaneous_high"),
    *("difference", "difference_low", "difference_high"),
)
JUDGED = ("is_beyond_chance", "is_known", "outcome", "is_behind")
RESERVED = ("metric", "depth", "support", *NUMBERS, *JUDGED)
"""Names an attribute cannot have beside them."""
_BEYOND: tuple[Loss, ...] = ("lost beyond tolerance", "changed beyond tolerance")


def refuse_reserved(attributes: Sequence[str]) -> None:
    """An error for attributes that would be taken for a column of the table."""
    taken = [name for name in attributes if name in RESERVED]
    if taken:
        raise InputError(
            f"Attribute '{plain(taken[0])}' has the name of a column of changes.parquet. Audit "
            "both with the attribute under another name."
        )


def change_table(
    conditions: Mapping[str, pl.DataFrame], compared: Mapping[str, ComparedMetric]
) -> pl.DataFrame:
    """One row for each metric and group; those that lost beyond tolerance first.

    Parameters
    ----------
    conditions : by metric, one row a group: a text column an attribute, and the depth
    """
    tables = []
    for name, found in compared.items():
        groups = found.groups
        own = (groups.before, groups.after, groups.change, *groups.interval)
        others = (groups.difference, *groups.difference_interval)
        numbers = zip(NUMBERS, (*own, *others), strict=True)
        outcomes = [LOSSES[at] for at in found.losses]
        tables.append(
            conditions[name].select(
                pl.lit(name).alias("metric"),
                pl.all(),
                pl.Series("support", groups.n.astype(np.int64)),
                *(
                    pl.Series(column, np.where(np.isinf(values), np.nan, values)).fill_nan(None)
                    for column, values in numbers
                ),
                pl.Series("is_beyond_chance", groups.is_beyond_chance),
                pl.Series("is_known", groups.is_known),
                pl.Series("outcome", outcomes, pl.String),
                pl.Series("is_behind", found.is_behind),
            )[found.order]
        )
    return pl.concat(tables)


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
    order = found.order
    is_lost = found.has(*_BEYOND, "lost", "changed")
    is_gained = found.has("gained")
    return MetricComparison(
        called=candidate.called,
        higher_is_better=candidate.higher_is_better,
        everyone=everyone,
        gap=gap_change(base, candidate),
        tolerance=found.tolerance,
        is_conclusive=found.is_conclusive,
        outcome=found.outcome,
        n_groups=len(found.losses),
        n_unknown=int((~found.groups.is_known).sum()),
        n_lost=int(is_lost.sum()),
        n_lost_beyond_tolerance=int(found.has(*_BEYOND).sum()),
        n_behind=int(found.is_behind.sum()),
        n_gained=int(is_gained.sum()),
        n_ruled_out=int(found.is_ruled_out.sum()),
        n_open=int(found.is_open.sum()),
        ruled_out_from=found.ruled_out_from,
        certificate=found.certificate,
        lost=_groups(found, conditions, order[is_lost[order]]),
        behind=_groups(found, conditions, order[found.is_behind[order]]),
        gained=_groups(found, conditions, order[::-1][is_gained[order[::-1]]]),
    )


def _groups(
    found: ComparedMetric, conditions: pl.DataFrame, rows: IntArray
) -> tuple[GroupComparison, ...]:
    """The first of some groups, by their positions."""
    groups, named = found.groups, conditions.drop("depth")
    parts = []
    for at in map(int, rows[:MOST_GROUPS]):
        ends = groups.difference_interval
        at_once = float(ends.low[at]), float(ends.high[at])
        difference = float(groups.difference[at])
        parts.append(
            GroupComparison(
                group=row_group(named.row(at, named=True)),
                support=int(groups.n[at]),
                before=float(groups.before[at]),
                after=float(groups.after[at]),
                change=float(groups.change[at]),
                simultaneous=(float(groups.interval.low[at]), float(groups.interval.high[at])),
                outcome=LOSSES[found.losses[at]],
                difference=difference if np.isfinite(difference) else None,
                difference_simultaneous=at_once if np.isfinite(at_once).all() else None,
                is_behind=bool(found.is_behind[at]),
            )
        )
    return tuple(parts)
