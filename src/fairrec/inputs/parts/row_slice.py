"""Rows of a table that is read in parts: a description that any process can open by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.inputs.formats import scan_parquet
from fairrec.inputs.frames import Rows, Source


@dataclass(frozen=True, slots=True)
class FileRows:
    """Rows of a Parquet file, from `start` up to `stop`, or to the end.

    Parameters
    ----------
    named : columns that the folders above the file name, each with its value
    """

    file: Path
    start: int = 0
    stop: int | None = None
    named: tuple[tuple[str, int | str | None, bool], ...] = ()

    def scan(self) -> pl.LazyFrame:
        """The rows, not read yet."""
        length = None if self.stop is None else self.stop - self.start
        return (
            scan_parquet(self.file)
            .slice(self.start, length)
            .with_columns(
                pl.lit(value, dtype=pl.Int64 if is_whole else pl.String).alias(name)
                for name, value, is_whole in self.named
            )
        )


def scan_rows(rows: Sequence[FileRows]) -> pl.LazyFrame:
    """All these rows, one after the other; of none the columns are those of the first file."""
    some = [one for one in rows if one.stop is None or one.stop > one.start] or rows[:1]
    # the first file gives the order of the columns
    names = some[0].scan().collect_schema().names()
    return pl.concat([one.scan().select(names) for one in some])


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one table.

    Parameters
    ----------
    where : the name of the table in messages
    path : of the whole table
    rows : never none; a piece without rows has an empty range
    first_row : the number of rows before these; None where rows of others stand between them
    is_text : whether user ids are text in the whole table, though these may look like numbers
    item_counts : a file with the number of rows of each item in the whole table
    longest : the length of the longest list of the whole table, as far as anybody asks
    """

    where: str
    path: Path
    rows: tuple[FileRows, ...]
    first_row: int | None = None
    is_text: bool = False
    item_counts: Path | None = None
    longest: int | None = None

    def open(self) -> Source:
        """The rows as a source of a table."""
        return Rows.from_frame(scan_rows(self.rows))

    def read_item_counts(self) -> tuple[pl.Series, IntArray]:
        """The items of the whole table, as they are compared, and the rows of each."""
        assert self.item_counts is not None
        counts = pl.read_parquet(self.item_counts)
        return counts["item_id"], counts["n"].to_numpy().astype(np.int64)
