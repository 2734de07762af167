"""Records of a text file with more or fewer fields than its header.

The reader of CSV fills up the short ones and cuts off the long ones, without a word. A comma too
many would give people the values of another column.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from fairrec.core.errors import InputError

_QUOTED = r'"(?:[^"]|"")*"'
_FIX = "Fix the line, or put quotes around a field that holds the separator."


def refuse_uneven(
    source: Path | bytes, where: str, separator: str, n_fields: int, n_skipped: int
) -> None:
    """Refuse a file in which a record has not as many fields as the header.

    Parameters
    ----------
    where : its name in messages
    n_fields : of the header
    n_skipped : lines before it
    """
    line = pl.col("line").str.strip_chars_end("\r")
    bare = line.str.replace_all(_QUOTED, "")
    fields = bare.str.count_matches(separator, literal=True) + 1
    found = (
        pl.scan_csv(
            source,
            separator="\0",
            quote_char=None,
            has_header=False,
            schema={"line": pl.String},
            skip_lines=n_skipped,
            encoding="utf8-lossy",
            glob=False,
        )
        .select(line=line, bare=bare, fields=fields)
        .with_row_index("row")
        .filter(pl.col("line").str.len_bytes() > 0)
        .select(
            is_open=pl.col("bare").str.contains('"', literal=True).any(),
            n_uneven=(pl.col("fields") != n_fields).sum(),
            row=pl.col("row").filter(pl.col("fields") != n_fields).first(),
            fields=pl.col("fields").filter(pl.col("fields") != n_fields).first(),
        )
        .collect(engine="streaming")
        .row(0, named=True)
    )
    if found["is_open"]:
        # a quoted field goes on in the next line
        _refuse_uneven_records(source, where, separator, n_fields, n_skipped)
    elif found["n_uneven"]:
        _refuse(where, found["row"], found["fields"], n_fields, found["n_uneven"])


def _refuse_uneven_records(
    source: Path | bytes, where: str, separator: str, n_fields: int, n_skipped: int
) -> None:
    """The same record by record, which takes longer."""
    try:
        uneven = [
            (row, len(record))
            for row, record in enumerate(_records(source, separator, n_skipped))
            if record and len(record) != n_fields
        ]
    except csv.Error as error:
        raise InputError(
            f"{where}: a quote is opened and not closed, or a field is too long ({error}). Close "
            "it, or write a quote within a field twice."
        ) from error
    if uneven:
        _refuse(where, *uneven[0], n_fields, len(uneven))


def _records(source: Path | bytes, separator: str, n_skipped: int) -> Iterator[list[str]]:
    with (
        source.open(encoding="utf-8", errors="replace", newline="")
        if isinstance(source, Path)
        else io.TextIOWrapper(io.BytesIO(source), "utf-8", errors="replace", newline="")
    ) as lines:
        for _ in range(n_skipped):
            next(lines)
        yield from csv.reader(lines, delimiter=separator)


def _refuse(where: str, row: int, n_found: int, n_fields: int, n_uneven: int) -> None:
    many = f" ({n_uneven:,} such rows)" if n_uneven > 1 else ""
    raise InputError(
        f"{where}, row {row:,}: {n_found:,} fields, where the header has {n_fields:,}{many}. {_FIX}"
    )
