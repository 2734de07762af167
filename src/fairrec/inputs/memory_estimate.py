"""How much memory tables will take that are read whole, estimated before they are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.audit_options import most_memory, refuse_larger
from fairrec.core.errors import listed
from fairrec.core.files import file_bytes
from fairrec.core.options import spell
from fairrec.inputs.formats import list_files, scan_parquet
from fairrec.inputs.partition import Stored, is_stored
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table

LARGE = 20_000_000
"""Rows from which a table is read in parts: whole, so many take about 2 GB."""
# bytes at the highest point of an audit, as `python -m benchmarks memory` measures them
ALWAYS = 250_000_000
PER_ROW = 80
PER_VALUE = 40
"""Of each attribute of a user beyond the first, which a row has room for."""
PER_BYTE_OF_LISTS, PER_BYTE_OF_TEXT, PER_BYTE_COMPRESSED = 6, 4, 20

_COMPRESSED = (".gz", ".zst")
_HEAD = 1 << 16


def refuse_large(tables: Mapping[str, Table], asked: int | None, n_attributes: int = 1) -> None:
    """Refuse files that cannot fit into memory.

    Parameters
    ----------
    tables : by what they are
    asked : the memory that may be used; None for half of what there is
    """
    needed = {table: estimate_bytes(table) for table in tables.values()}
    users = tables.get("users")
    if users is not None:
        needed[users] += PER_VALUE * max(0, n_attributes - 1) * _n_rows(users)
    large = [table for table, room in needed.items() if room > max(needed.values()) / 2]
    many = "The rows" if len(large) == 1 else "Together the rows"
    refuse_larger(
        sum(needed.values()) + ALWAYS,
        asked,
        f"{many} of {listed([table.where for table in large])}, read at once,",
        "Save large tables as Parquet files, of which parts are read where they can be, name fewer "
        f"attributes in {spell('by')}, or audit fewer users",
    )


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
    if any(":" not in spec or ":q" in spec for spec in given.adjust_for):
        return False
    tables = [Table(one, "predictions") for one in (main, *beside)]
    return all(map(is_stored, tables)) and Stored.open(tables[0]).n_rows >= rows


def most_rows(asked: int | None) -> int:
    """Rows of a Parquet table that may be read at once; more are read in parts if they can be."""
    return min(LARGE, (most_memory(asked) - ALWAYS) // PER_ROW)


def estimate_bytes(table: Table) -> float:
    """Bytes that it will take; none for a table that is in memory already."""
    if table.path is None or table.row_slice is not None:
        return 0.0
    if is_stored(table):
        stored = Stored.open(table)
        of_lists = sum(one.file.stat().st_size for one in stored.files if _has_lists(one.file))
        return float(PER_ROW * stored.n_rows + PER_BYTE_OF_LISTS * of_lists)
    return float(
        sum(
            file.stat().st_size
            * (PER_BYTE_COMPRESSED if file.suffix.lower() in _COMPRESSED else PER_BYTE_OF_TEXT)
            for file in list_files(table.path)
        )
    )


def _n_rows(table: Table) -> float:
    """How many rows it has; of text about as many, by the length of the first lines."""
    if table.path is None or table.row_slice is not None:
        return 0.0
    if is_stored(table):
        return float(Stored.open(table).n_rows)
    file = list_files(table.path)[0]
    if file.suffix.lower() in _COMPRESSED:
        return 0.0
    head = file_bytes(file, _HEAD)
    return file.stat().st_size * head.count(b"\n") / max(1, len(head))


def _has_lists(file: Path) -> bool:
    kinds = scan_parquet(file).collect_schema().dtypes()
    return any(isinstance(kind, pl.List | pl.Array) for kind in kinds)
