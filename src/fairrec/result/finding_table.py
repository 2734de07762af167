"""The findings as rows of the table of groups, and tables as they are handed out."""

from __future__ import annotations

from typing import Any

import polars as pl

from fairrec.result.schema import AuditSummary


def finding_table(summary: AuditSummary, groups: pl.DataFrame) -> pl.DataFrame:
    """The rows of the table of groups that are findings, by metric and worst first."""
    keys = ["metric", *summary.attributes]
    found = [
        {"metric": name, **{attribute: str(value) for attribute, value in finding.group.items()}}
        for name, result in summary.metrics.items()
        for finding in result.findings
    ]
    rows = pl.DataFrame(found, schema=dict.fromkeys(keys, pl.String))
    joined = rows.join(groups, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined.select(groups.columns)


def as_pandas(table: pl.DataFrame) -> Any:
    """The table as a frame of pandas; it needs no pyarrow."""
    import pandas as pd

    return pd.DataFrame({column.name: column.to_numpy() for column in table})
