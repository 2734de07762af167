"""The table of users, or of items: id, attributes and each metric."""

from __future__ import annotations

import polars as pl

from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.ids import ids_as_integers_or_text
from fairrec.metrics.measured import Measured


def per_user_table(inputs: AuditInputs, measured: Measured) -> pl.DataFrame:
    """One row a user, or an item; a metric is null where it is undefined."""
    labels = [attribute.labels for attribute in inputs.attributes]
    numbers = [
        pl.Series(metric.name, row).fill_nan(None)
        for metric, row in zip(measured.metrics, measured.values, strict=True)
    ]
    ids = inputs.user_ids.alias(inputs.unit.id_column(inputs.given.unit))
    return pl.DataFrame([ids, *labels, *numbers])


def in_order_of_ids(table: pl.DataFrame) -> pl.DataFrame:
    """The same users in the order of an audit that reads them at once; parts have one of their own.

    >>> in_order_of_ids(pl.DataFrame({"user_id": ["10", "9"]}))["user_id"].to_list()
    ['9', '10']
    """
    return table[ids_as_integers_or_text(table.to_series(0), "").arg_sort()]
