"""Which tables are read in parts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairrec.inputs.parts.stored import Stored, is_stored
from fairrec.inputs.tables import Table

LARGE = 20_000_000
"""Rows from which a table is read in parts: whole, so many take about 2 GB."""


def is_large(predictions: Any, given: Mapping[str, Any], rows: int = LARGE) -> bool:
    """Whether a table is to be read in parts: it is in Parquet files and has many rows.

    Parameters
    ----------
    given : the options about tables; of values where there are no predictions
    """
    source = predictions if predictions is not None else given.get("values")
    if not isinstance(source, str | Path):
        return False
    table = Table(source, "predictions")
    return is_stored(table) and Stored.of(table).n_rows >= rows
