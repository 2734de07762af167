"""The rows of a table, dealt out to the parts of their users in files of their own."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.core.progress import Progress
from fairrec.inputs.parts.cutting import Forms, user_runs
from fairrec.inputs.parts.piece import FileRows
from fairrec.inputs.parts.placing import Everyone
from fairrec.inputs.parts.stored import Stored

BATCH = 1 << 22
"""Rows that are dealt out at a time."""
_LEAST_ROWS, _MOST_ROWS = 1 << 10, 1 << 17
"""Rows of a row group, which is read as a whole."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """A table dealt out to parts, and what that took.

    Parameters
    ----------
    rows : of each part
    is_text : whether user ids are text, as they are compared
    n_bytes : of scratch files
    """

    table: str
    rows: tuple[tuple[FileRows, ...], ...]
    is_text: bool
    n_rows: int
    n_bytes: int
    seconds: float


def deal(
    stored: Stored,
    column: str,
    everyone: Everyone,
    folder: Path,
    are_audited: bool,
    are_all_kept: bool,
    progress: Progress = lambda stage, done, total: None,
) -> Dealt:
    """Deal out the rows of a table.

    Parameters
    ----------
    column : of the user ids
    are_audited, are_all_kept : see `Everyone.place`
    """
    started = time.perf_counter()
    forms = Forms(stored, column)
    rows: list[list[FileRows]] = [[] for _ in range(everyone.n_parts)]
    n_rows = n_bytes = 0
    for number, (start, batch) in enumerate(stored.batches(BATCH)):
        progress(f"dealing out {stored.table.where}", start, stored.n_rows)
        heads, starts = user_runs(batch[column])
        codes = forms.codes(heads, starts + start)
        parts = everyone.place(codes, are_audited, are_all_kept)
        parts = np.repeat(parts, np.diff(np.append(starts, len(batch))))
        file = folder / f"{stored.table.name}-{number:05}.parquet"
        for part, found in enumerate(_write(batch, parts, everyone.n_parts, file)):
            if found.stop > found.start:
                rows[part].append(found)
                n_rows += found.stop - found.start
        n_bytes += file.stat().st_size
    return Dealt(
        stored.table.name,
        tuple(tuple(some) or (stored.nothing,) for some in rows),
        forms.is_text,
        n_rows,
        n_bytes,
        time.perf_counter() - started,
    )


def _write(frame: pl.DataFrame, parts: IntArray, n_parts: int, file: Path) -> tuple[FileRows, ...]:
    """Write rows part by part, in their order; where those of each part are.

    Rows of part -1 are left out. One file for all parts, of which a reader opens the rows of its
    own: thousands of small files would take longer to write and to find.
    """
    # stable, so that the rows of a user keep their order; of 16 bits that takes no comparison
    narrow = parts.astype(np.int16) if n_parts < 1 << 15 else parts
    bounds = np.cumsum(np.bincount(parts + 1, minlength=n_parts + 1))
    order = np.argsort(narrow, kind="stable")[bounds[0] :]
    bounds -= bounds[0]
    n_each = int(np.clip(len(frame) // n_parts, _LEAST_ROWS, _MOST_ROWS))
    # rows of one chunk are found four times faster than those of many
    rows = frame.rechunk()[order]
    rows.write_parquet(
        file, compression="zstd", compression_level=1, statistics=False, row_group_size=n_each
    )
    return tuple(FileRows(file, int(bounds[i]), int(bounds[i + 1])) for i in range(n_parts))
