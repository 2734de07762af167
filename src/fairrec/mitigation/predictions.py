"""Candidate lists with new scores as a table of predictions."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.inputs.audit_inputs import AuditInputs


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
