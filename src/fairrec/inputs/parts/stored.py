"""A table in Parquet files: where its rows are, and some of them at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.core.errors import InputError
from fairrec.inputs.formats import (
    columns_in_names,
    files_of,
    format_of,
    root_of,
    scan_parquet,
)
from fairrec.inputs.parts.piece import FileRows, scan_rows
from fairrec.inputs.tables import Table


@dataclass(frozen=True, slots=True)
class Stored:
    """A table whose rows are counted and not read.

    Parameters
    ----------
    files : all rows of each file, in the order of the table
    bounds : (n_files + 1,), the rows before each file
    """

    table: Table
    files: tuple[FileRows, ...]
    bounds: IntArray

    @classmethod
    def of(cls, table: Table) -> Stored:
        """The rows of a table in Parquet files; an error for another one."""
        if not is_stored(table):
            raise InputError(
                f"{table.where}: is not in Parquet files, and only these are read in parts. Save "
                "it as Parquet."
            )
        assert table.path is not None
        paths = files_of(table.path)
        is_one = paths == (table.path,) or (len(paths) == 1 and not table.path.is_dir())
        named = {} if is_one else columns_in_names(paths, root_of(table.path))
        with table.read_errors():
            lengths = [int(scan_parquet(file).select(pl.len()).collect().item()) for file in paths]
        files = tuple(
            FileRows(
                *(file, 0, n_rows),
                tuple(
                    (name, column[at], column.dtype == pl.Int64) for name, column in named.items()
                ),
            )
            for at, (file, n_rows) in enumerate(zip(paths, lengths, strict=True))
        )
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        if not bounds[-1]:
            raise InputError(f"{table.where}: the table is empty. It needs at least one row.")
        return cls(table, files, bounds)

    @property
    def n_rows(self) -> int:
        """The rows of all files."""
        return int(self.bounds[-1])

    @property
    def nothing(self) -> FileRows:
        """No rows, with the columns of the table."""
        first = self.files[0]
        return FileRows(first.file, 0, 0, first.named)

    def rows(self, start: int, stop: int) -> tuple[FileRows, ...]:
        """The rows from `start` up to `stop`, wherever they are."""
        found = []
        for file, before in zip(self.files, self.bounds, strict=False):
            low, high = max(start - before, 0), min(stop - before, file.stop)
            if low < high:
                found.append(FileRows(file.file, int(low), int(high), file.named))
        return tuple(found) or (self.nothing,)

    def batches(self, n_rows: int, *columns: str) -> Iterator[tuple[int, pl.DataFrame]]:
        """So many rows at a time, and how many come before; all columns where none is named."""
        for start in range(0, self.n_rows, n_rows):
            scanned = scan_rows(self.rows(start, min(start + n_rows, self.n_rows)))
            with self.table.read_errors():
                frame = (scanned.select(columns) if columns else scanned).collect()
            yield start, frame


def is_stored(table: Table) -> bool:
    """Whether a table is in Parquet files."""
    return table.path is not None and all(
        format_of(file) == "Parquet" for file in files_of(table.path)
    )
