"""Which tables are read in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairrec.inputs.parts.stored import Stored, is_stored
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table

LARGE = 20_000_000
"""Rows from which a table is read in parts: whole, so many take about 2 GB."""


def is_large(predictions: Any, given: TableOptions, rows: int = LARGE) -> bool:
    """Whether tables are to be read in parts: they have many rows, and can be.

    Parts need Parquet files, and circumstances in bins that do not depend on all users; other
    tables are read whole, however large they are.

    Parameters
    ----------
    given : of values where there are no predictions
    """
    main = predictions if predictions is not None else given.values
    if given.against_lists is not None:
        # both lists of a user would have to be in one part
        return False
    beside = [one for one in (given.test, given.history) if one is not None]
    if not all(isinstance(one, str | Path) for one in (main, *beside)):
        return False
    if any(":" not in spec or ":q" in spec for spec in given.given):
        return False
    tables = [Table(one, "predictions") for one in (main, *beside)]
    return all(map(is_stored, tables)) and Stored.of(tables[0]).n_rows >= rows
