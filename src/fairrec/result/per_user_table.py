"""The table of users: id, attributes and each metric."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.inputs.users import Attribute
from fairrec.metrics import MetricAtK


def per_user_table(
    ids: pl.Series,
    attributes: Sequence[Attribute],
    metrics: Sequence[MetricAtK],
    values: FloatArray,
) -> pl.DataFrame:
    """One row a user; a metric is null where it is undefined."""
    labels = [
        pl.Series(attribute.name, [str(value) for value in attribute.values], pl.String).gather(
            attribute.codes
        )
        for attribute in attributes
    ]
    numbers = [
        pl.Series(metric.name, row).fill_nan(None)
        for metric, row in zip(metrics, values, strict=True)
    ]
    return pl.DataFrame([ids.alias("user_id"), *labels, *numbers])
