"""The table of users: id, attributes and each metric."""

from __future__ import annotations

import polars as pl

from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics.measured import Measured


def per_user_table(inputs: AuditInputs, measured: Measured) -> pl.DataFrame:
    """One row a user; a metric is null where it is undefined."""
    labels = [attribute.labels for attribute in inputs.attributes]
    numbers = [
        pl.Series(metric.name, row).fill_nan(None)
        for metric, row in zip(measured.metrics, measured.values, strict=True)
    ]
    return pl.DataFrame([inputs.user_ids.alias("user_id"), *labels, *numbers])
