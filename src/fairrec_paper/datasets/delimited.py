"""Text files of lines and fields, read as text with their line numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.errors import InputError
from fairrec_paper.datasets.raw_table import FIX, RawTable

UTF_8 = ("utf-8-sig",)
UTF_8_OR_LATIN_1 = ("utf-8-sig", "latin-1")
"""Latin-1 text with accents is hardly ever valid UTF-8, so UTF-8 is tried first."""
BATCH = 50_000


def read_fields(
    path: Path, separator: str, fields: Sequence[str], encodings: Sequence[str]
) -> RawTable:
    """The lines of a file without header or quotes, one column a field."""
    # not splitlines, which also breaks at characters that may stand in a title
    texts = read_text(path, encodings).replace("\r\n", "\n").split("\n")
    lines = pl.LazyFrame({"text": texts}).with_row_index("line", offset=1)
    table = _split(lines, path, separator, fields)
    return replace(table, rows=table.rows.collect().lazy())


def scan_fields(path: Path, separator: str, fields: Sequence[str]) -> RawTable:
    """The same for a UTF-8 file of any size: rows stream from disk at every use."""
    # no text holds a zero byte, so each line comes whole
    lines = pl.scan_csv(
        path,
        glob=False,
        has_header=False,
        separator="\0",
        quote_char=None,
        schema={"text": pl.String},
        row_index_name="line",
        row_index_offset=1,
    )
    try:
        return _split(lines, path, separator, fields)
    except pl.exceptions.PolarsError as error:
        raise _not_text(path, UTF_8) from error


def read_csv(path: Path, columns: Sequence[str], encodings: Sequence[str]) -> RawTable:
    """The named columns of a comma-separated file with a header and perhaps quotes."""
    reader = csv.reader(io.StringIO(read_text(path, encodings), newline=""), strict=True)
    rows = _csv_rows(reader, path, columns)
    schema = {"line": pl.Int64, **dict.fromkeys(columns, pl.String)}
    return RawTable(frame_of(rows, schema).lazy(), path.name)


def read_text(path: Path, encodings: Sequence[str]) -> str:
    """The text of a file, in the first encoding that fits."""
    content = path.read_bytes()
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise _not_text(path, encodings)


def frame_of(rows: Iterable[tuple[Any, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    """Rows as a frame, built in batches: few of them are Python objects at a time."""
    left = iter(rows)
    frames = [pl.DataFrame(schema=schema)]
    while batch := list(islice(left, BATCH)):
        frames.append(pl.DataFrame(batch, schema=schema, orient="row"))
    return pl.concat(frames)


def _split(lines: pl.LazyFrame, path: Path, separator: str, fields: Sequence[str]) -> RawTable:
    names = [*fields, "_more"]
    parts = pl.col("text").str.split_exact(separator, len(fields)).struct.rename_fields(names)
    rows = (
        lines.filter(pl.col("text") != "")
        .select("line", "text", parts.alias("_parts"))
        .unnest("_parts")
    )
    RawTable(rows, path.name).refuse(
        pl.col(fields[-1]).is_null() | pl.col("_more").is_not_null(),
        "text",
        f"does not have {len(fields)} fields ({', '.join(fields)}) separated by {separator!r}",
    )
    return RawTable(rows.drop("text", "_more"), path.name)


def _csv_rows(reader: Any, path: Path, columns: Sequence[str]) -> Iterator[tuple[int | str, ...]]:
    try:
        header = [name.strip() for name in next(reader, [])]
        places = [_place(column, header, path) for column in columns]
        line = reader.line_num + 1
        for row in reader:
            if len(row) == len(header):
                yield line, *(row[place] for place in places)
            elif row:
                raise InputError(
                    f"{path.name}, line {line}: {len(row)} fields, where the header has "
                    f"{len(header)}. {FIX}"
                )
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{path.name}, line {reader.line_num}: is not a CSV row ({error}). "
            "Fix the quotes or get the file again."
        ) from error


def _place(column: str, header: list[str], path: Path) -> int:
    if column not in header:
        raise InputError(
            f"{path.name}, line 1: no column '{column}'. Columns here: {', '.join(header)}. "
            "Give the publisher's file with its header."
        )
    return header.index(column)


def _not_text(path: Path, encodings: Sequence[str]) -> InputError:
    """The error for a file that no encoding fits, found line by line."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            fault = _fault(line, encodings)
            if fault:
                return InputError(
                    f"{path.name}, line {number}: holds {fault}. "
                    "Get the publisher's file, or save this one as UTF-8 text."
                )
    return InputError(f"{path.name}: cannot be read as text. Get the publisher's file again.")


def _fault(line: bytes, encodings: Sequence[str]) -> str:
    if b"\0" in line:
        return "a zero byte, so it is not plain text"
    for encoding in encodings:
        try:
            line.decode(encoding)
        except UnicodeDecodeError as error:
            fault = f"the byte 0x{line[error.start]:02x}, which is not UTF-8"
        else:
            return ""
    return fault
