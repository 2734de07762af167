"""Records of a text file with more or fewer fields than its header.

The reader of CSV fills up the short ones and cuts off the long ones, without a word. A comma too
many would give people the values of another column.
"""

from __future__ import annotations

import csv
from contextlib import suppress
from itertools import chain
from pathlib import Path

import polars as pl

from fairrec.core.errors import InputError
from fairrec.inputs.lines import scan_lines

_QUOTED = r'"(?:[^"]|"")*"'
_FIX = (
    "Fix the line, delete it if it is a comment, or put quotes around a field that holds the "
    "separator."
)


def refuse_uneven(
    source: Path | bytes, where: str, separator: str, n_fields: int, n_skipped: int
) -> int:
    """How many lines at the end are blank; refuses records of other length than the header.

    Parameters
    ----------
    where : its name in messages
    n_fields : of the header
    n_skipped : lines before it
    """
    lines = scan_lines(source, n_skipped)
    # to the reader, quotes are such at the start of a field alone
    quoted = rf"(^|[{separator}]){_QUOTED}"
    bare = pl.col("line").str.replace_all(quoted, "${1}")
    fields = bare.str.count_matches(separator, literal=True) + 1
    is_some = pl.col("line").str.len_bytes() > 0
    is_uneven = pl.col("is_some") & (pl.col("fields") != n_fields)
    found = (
        lines.select(is_some=is_some, bare=bare, fields=fields)
        .with_row_index("row")
        .select(
            is_open=pl.col("bare").str.contains('"', literal=True).any(),
            n_uneven=is_uneven.sum(),
            row=pl.col("row").filter(is_uneven).first(),
            fields=pl.col("fields").filter(is_uneven).first(),
            n_lines=pl.len(),
            last=pl.col("row").filter(pl.col("is_some")).last(),
        )
        .collect(engine="streaming")
        .row(0, named=True)
    )
    if found["is_open"]:
        # a quoted field goes on in the next line, or a quote stands within a field
        _refuse_uneven_records(lines, where, separator, n_fields)
    elif found["n_uneven"]:
        _refuse(where, found["row"], found["fields"], n_fields, found["n_uneven"])
    return int(found["n_lines"] - 1 - (found["last"] or 0))


def _refuse_uneven_records(lines: pl.LazyFrame, where: str, separator: str, n_fields: int) -> None:
    """The same record by record, which takes longer."""
    # what stands in a field does not matter, only that something does
    short = pl.col("line").str.replace_all(rf'[^"{separator}]+', "x")
    texts = lines.select(short).collect(engine="streaming")["line"]
    # one line more, which is a record of its own unless a quote is still open
    ended = (f"{text}\n" for text in chain(texts, "x"))
    lengths: list[int] = []
    last: list[str] = []
    with suppress(csv.Error):  # a field of more lines than any has
        for last in csv.reader(ended, delimiter=separator):
            lengths.append(len(last))
    if last != ["x"]:
        raise InputError(
            f"{where}: a quote is opened and not closed. Close it, or write a quote within a field "
            "twice."
        )
    uneven = [(row, n) for row, n in enumerate(lengths[:-1]) if n not in (0, n_fields)]
    if uneven:
        _refuse(where, *uneven[0], n_fields, len(uneven))


def _refuse(where: str, row: int, n_found: int, n_fields: int, n_uneven: int) -> None:
    many = f" ({n_uneven:,} such rows)" if n_uneven > 1 else ""
    raise InputError(
        f"{where}, row {row:,}: {n_found:,} fields, where the header has {n_fields:,}{many}. {_FIX}"
    )
