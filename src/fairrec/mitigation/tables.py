"""The tables of a mitigation: lists with new scores, and the change of every group."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.result.tables import group_conditions
from fairrec.statistics.paired import GroupChanges

NUMBERS = ("before", "after", "change", "change_low", "change_high", "p_value", "p_adjusted")
RESERVED = ("metric", "depth", "support", *NUMBERS, "verdict")
"""Names an attribute cannot have beside them in the table of changes."""


def predictions_table(
    inputs: AuditInputs, scores: FloatArray, with_model_score: bool = False
) -> pl.DataFrame:
    """`user_id, item_id, score, label`, one row a candidate, in the order they came."""
    candidates = inputs.candidates
    users = np.repeat(inputs.user_of_list, np.diff(candidates.offsets))
    columns = {
        "user_id": inputs.user_ids.gather(users),
        "item_id": candidates.item_ids.gather(candidates.items),
        "score": pl.Series(scores),
    }
    if candidates.labels is not None:
        columns["label"] = pl.Series(candidates.labels)
    if with_model_score:
        columns["model_score"] = pl.Series(candidates.scores)
    return pl.DataFrame(columns)


def change_table(changes: GroupChanges) -> pl.DataFrame:
    """One row for each metric and group."""
    conditions, tables = group_conditions(changes.grouping), []
    for m, (metric, part) in enumerate(zip(changes.metrics, changes.changes, strict=True)):
        change = (part.change, part.low, part.high)
        tests = (part.p_value, changes.p_adjusted[m])
        numbers = zip(NUMBERS, (part.before, part.after, *change, *tests), strict=True)
        tables.append(
            conditions.select(
                pl.lit(metric).alias("metric"),
                pl.all(),
                pl.Series("support", part.n.astype(np.int64)),
                *(pl.Series(name, column).fill_nan(None) for name, column in numbers),
                pl.Series("verdict", changes.verdicts(m).tolist()),
            ).filter(pl.col("support") > 0)
        )
    return pl.concat(tables)
