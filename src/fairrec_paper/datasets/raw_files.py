"""Files of publishers: find them, read them line by line, and refuse what does not fit."""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import warnings
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec_paper.datasets.bundle import DATASETS, TABLES

FIX = "Fix the file or get it again."
SHOWN = 80
"""Characters of a value in a message; a broken line may be very long."""


@dataclass(frozen=True, slots=True)
class RawTable:
    """What a file holds, as text or already as numbers.

    Parameters
    ----------
    rows : `line`, and the file's columns
    file : its name, for messages
    unit : what `line` counts: lines of a text file or rows of a Parquet file
    """

    rows: pl.LazyFrame
    file: str
    unit: str = "line"

    def refuse(self, is_bad: pl.Expr, column: str, problem: str, remedy: str = FIX) -> None:
        """Raise where `is_bad` holds, naming the first line, its value and how many there are."""
        found = (
            self.rows.filter(is_bad)
            .select(pl.len().alias("n"), pl.col("line", column).first())
            .collect(engine="streaming")
            .row(0, named=True)
        )
        if found["n"]:
            value = repr(found[column])
            value = value if len(value) <= SHOWN else f"{value[:SHOWN]}..."
            many = f" ({found['n']:,} such {self.unit}s)" if found["n"] > 1 else ""
            raise InputError(
                f"{self.file}, {self.unit} {found['line']}: {column} {value} {problem}{many}. "
                f"{remedy}"
            )

    def refuse_empty(self, *columns: str) -> None:
        """Raise where a text is empty or missing."""
        for column in columns:
            self.refuse(pl.col(column).fill_null("") == "", column, "is empty")

    def refuse_repeated(self, column: str) -> None:
        """Raise where a value stands in more than one row."""
        self.refuse(~pl.col(column).is_first_distinct(), column, "appears more than once")

    def refuse_unknown(self, column: str, known: pl.Series, file: str) -> None:
        """Raise where a value is not one of the `known`, which are those of another file."""
        self.refuse(~pl.col(column).is_in(known.implode()), column, f"is not in {file}")

    def whole_numbers(self, *columns: str, may_be_empty: bool = False) -> RawTable:
        """The table with texts as whole numbers; '6.0' is one, as spreadsheets write it."""
        numbers = {
            column: pl.col(column).str.replace(r"\.0+$", "").cast(pl.Int64, strict=False)
            for column in columns
        }
        for column, number in numbers.items():
            is_bad = number.is_null() & _is_asked(column, may_be_empty)
            self.refuse(is_bad, column, "is not a whole number")
        return replace(self, rows=self.rows.with_columns(**numbers))

    def decimals(self, *columns: str) -> RawTable:
        """The table with texts as decimal numbers."""
        numbers = {column: pl.col(column).cast(pl.Float64, strict=False) for column in columns}
        for column, number in numbers.items():
            self.refuse(~number.is_finite().fill_null(False), column, "is not a number")
        return replace(self, rows=self.rows.with_columns(**numbers))

    def empty_as_missing(self, *columns: str) -> RawTable:
        """The table with null in place of empty texts."""
        texts = [pl.when(pl.col(column) != "").then(pl.col(column)) for column in columns]
        return replace(self, rows=self.rows.with_columns(texts))

    def rename(self, names: Mapping[str, str]) -> RawTable:
        """The table with other column names: old name -> new name."""
        return replace(self, rows=self.rows.rename(names))

    def collect(self) -> pl.DataFrame:
        """The rows without their lines."""
        return self.rows.drop("line").collect()


def _is_asked(column: str, may_be_empty: bool) -> pl.Expr:
    return pl.col(column) != "" if may_be_empty else pl.lit(True)


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
            fault = "a zero byte, so it is not plain text" if b"\0" in line else ""
            try:
                # the last one takes the most
                line.decode(encodings[-1])
            except UnicodeDecodeError as error:
                fault = fault or f"the byte 0x{line[error.start]:02x}, which is not UTF-8"
            if fault:
                return InputError(
                    f"{path.name}, line {number}: holds {fault}. "
                    "Get the publisher's file, or save this one as UTF-8 text."
                )
    return InputError(f"{path.name}: cannot be read as text. Get the publisher's file again.")


TELL_EVERY = 20_000
LARGEST = 2**53
"""Numbers from here on are not exact, and no rating, time or price is as large."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line: its fields, and where it stands for messages."""

    fields: dict[str, Any]
    where: str

    def text(self, key: str) -> str:
        """A field that must be text."""
        value = self.fields.get(key)
        if not isinstance(value, str) or not value:
            raise self._fault(key, "text")
        return clean(value)

    def number(self, key: str) -> float:
        """A field that must be a number."""
        value = self.fields.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        # false for NaN too
        if not (is_number and abs(cast("float", value)) < LARGEST):
            raise self._fault(key, "a number")
        return cast("float", value)

    def _fault(self, key: str, kind: str) -> InputError:
        if key not in self.fields:
            problem = f"no '{key}'; fields here: {', '.join(map(repr, list(self.fields)[:12]))}"
        else:
            problem = f"{key} {self.fields[key]!r:.80} is not {kind}"
        return InputError(f"{self.where}: {problem}. {FIX}")


def clean(text: str) -> str:
    """The text with '?' for halves of characters, which JSON can spell but no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_records(path: Path, progress: Progress) -> Iterator[Record]:
    """The records of a file, one at a time; a name ending in .gz is decompressed on the way."""
    size, number = path.stat().st_size, 0
    with path.open("rb") as file:
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if path.suffix == ".gz" else file
        try:
            for number, line in enumerate(stream, 1):
                if number % TELL_EVERY == 1:
                    progress(f"reading {path.name}", file.tell(), size)
                if not line.isspace():
                    yield _record(line, f"{path.name}, line {number}")
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"{path.name}, line {number + 1}: the compressed file breaks off or is damaged "
                f"here ({error}). Download it again."
            ) from error


def _record(line: bytes, where: str) -> Record:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: holds the byte 0x{line[error.start]:02x}, which is not UTF-8. "
            "Get the publisher's file again."
        ) from error
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = _python_literal(text)
    if not isinstance(fields, dict):
        raise InputError(f"{where}: {text.strip()!r:.80} is not a JSON record. {FIX}")
    return Record(fields, where)


def _python_literal(text: str) -> object:
    """What a line of the older files holds, which are written as Python values; None if nothing.

    Only literals are read: nothing in the line is run.
    """
    try:
        with warnings.catch_warnings():
            # odd escapes in descriptions are of no interest
            warnings.simplefilter("ignore")
            return cast("object", ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


ColumnTypes = Mapping[str, pl.DataType | type[pl.DataType]]
PARQUET_FILES = tuple(f"{table}.parquet" for table in TABLES)


def find_file(dataset: str, raw: Path, *names: str) -> Path:
    """The first of the names that is in the folder."""
    for name in names:
        if (raw / name).is_file():
            return raw / name
    deeper = next((path for name in names for path in sorted(raw.glob(f"*/{name}"))), None)
    here = sorted(path.name for path in raw.iterdir())
    if deeper:
        remedy = f"It is in {deeper.parent}: give that folder as {spell('raw')}."
    else:
        remedy = (
            f"Get {dataset} from {DATASETS[dataset].where} and give the folder of its files as "
            f"{spell('raw')}. In this folder: {', '.join(here[:8]) or 'nothing'}."
        )
    raise InputError(f"{raw}: no {' or '.join(names)} there. {remedy}")


def holds_parquet(raw: Path) -> bool:
    """Whether the folder holds the three tables as Parquet files."""
    return all((raw / name).is_file() for name in PARQUET_FILES)


def read_parquet(
    raw: Path,
    table: str,
    columns: ColumnTypes,
    may_be_null: Collection[str] = (),
    where_there: ColumnTypes | None = None,
) -> RawTable:
    """The named columns of one of the three tables, in the types asked for.

    Parameters
    ----------
    where_there : more columns, of a table that has them; they may be null
    """
    path = raw / f"{table}.parquet"
    try:
        frame = pl.read_parquet(path, glob=False)
        missing = [column for column in columns if column not in frame.columns]
        if missing:
            raise InputError(
                f"{path.name}: no column '{missing[0]}'. Columns here: {', '.join(frame.columns)}."
            )
        more = {name: kind for name, kind in (where_there or {}).items() if name in frame.columns}
        wanted = {**columns, **more}
        typed = frame.select(pl.col(column).cast(kind) for column, kind in wanted.items())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # a damaged file can make the reader panic
        reason = (str(error).strip() or repr(error)).splitlines()[0]
        raise InputError(
            f"{path.name}: cannot be read as {', '.join(columns)} ({reason}). Get the file again."
        ) from error
    rows = RawTable(typed.lazy().with_row_index("line", offset=1), path.name, unit="row")
    for column in columns:
        if column not in may_be_null:
            rows.refuse(pl.col(column).is_null(), column, "is missing")
    return rows
