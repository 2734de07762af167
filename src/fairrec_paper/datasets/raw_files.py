"""Files of publishers: find them, read them line by line, and refuse what does not fit."""

from __future__ import annotations

import ast
import gzip
import json
import math
import warnings
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec.core.progress import Progress
from fairrec_paper.datasets.bundle import DATASETS, TABLES

FIX = "Fix the file or get it again."


@dataclass(frozen=True, slots=True)
class RawTable:
    """What a file holds, as text or already as numbers.

    Parameters
    ----------
    rows : `line`, and the file's columns
    file : its name, for messages
    unit : what `line` counts: lines of a text file or rows of a table
    """

    rows: pl.LazyFrame
    file: str
    unit: str = "line"

    def refuse(self, is_bad: pl.Expr, column: str, problem: str) -> None:
        """Raise where `is_bad` holds, naming the first line, its value and how many there are."""
        found = (
            self.rows.filter(is_bad)
            .select(pl.len().alias("n"), pl.col("line", column).first())
            .collect(engine="streaming")
            .row(0, named=True)
        )
        if found["n"]:
            many = f" ({found['n']:,} such {self.unit}s)" if found["n"] > 1 else ""
            raise InputError(
                f"{self.file}, {self.unit} {found['line']}: {column} {found[column]!r:.80} "
                f"{problem}{many}. {FIX}"
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
            is_bad = number.is_null() & (pl.col(column) != "" if may_be_empty else True)
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
    with refused(path, "UTF-8 text"):
        return _split(lines, path, separator, fields)


def read_csv(path: Path, columns: Sequence[str], encodings: Sequence[str]) -> RawTable:
    """The named columns of a comma-separated file with a header and perhaps quotes."""
    content = read_text(path, encodings).encode()
    with refused(path, "CSV"):
        frame = pl.read_csv(content, infer_schema=False)
    return text_table(frame, path, columns)


def read_text(path: Path, encodings: Sequence[str]) -> str:
    """The text of a file, in the first encoding that fits."""
    *first, last = encodings
    content = path.read_bytes()
    for encoding in first:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    try:
        return content.decode(last)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path.name}, line {line}: holds the byte 0x{content[error.start]:02x}, which is not "
            "UTF-8. Get the publisher's file, or save this one as UTF-8 text."
        ) from error


def frame_of(rows: Iterable[tuple[Any, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    """Rows as a frame, built in batches: few of them are Python objects at a time."""
    left = iter(rows)
    frames = [pl.DataFrame(schema=schema)]
    while batch := list(islice(left, BATCH)):
        frames.append(pl.DataFrame(batch, schema=schema, orient="row"))
    return pl.concat(frames)


def text_table(frame: pl.DataFrame, path: Path, columns: Sequence[str]) -> RawTable:
    """The named columns of a table whose cells are texts, numbered as a spreadsheet does."""
    for column in columns:
        if column not in frame.columns:
            raise missing_column(path, column, frame.columns)
    cells = frame.select(pl.col(columns).cast(pl.String).fill_null(""))
    # the first row holds the names
    return RawTable(cells.lazy().with_row_index("line", offset=2), path.name, unit="row")


def missing_column(path: Path, column: str, there: Sequence[str]) -> InputError:
    """The error where a table lacks a column."""
    return InputError(
        f"{path.name}: no column '{column}'. Columns here: {', '.join(there)}. "
        "Give the publisher's file with its header."
    )


@contextmanager
def refused(path: Path, what: str) -> Iterator[None]:
    """Errors of Polars name the file; a damaged one can make a reader panic."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = (str(error).strip() or repr(error)).splitlines()[0]
        raise InputError(
            f"{path.name}: cannot be read as {what} ({reason}). Get the file again."
        ) from error


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


TELL_EVERY = 20_000


@dataclass(frozen=True, slots=True)
class Record:
    """One line: its fields, and where it stands for messages."""

    fields: dict[str, Any]
    where: str

    def text(self, key: str) -> str:
        """A field that must be text."""
        value = self.fields.get(key)
        if isinstance(value, str) and value:
            return value
        raise self._fault(key, "text")

    def number(self, key: str) -> float:
        """A field that must be a number."""
        value = self.fields.get(key)
        if isinstance(value, int | float) and math.isfinite(value):
            return value
        raise self._fault(key, "a number")

    def _fault(self, key: str, kind: str) -> InputError:
        there = ", ".join(map(repr, list(self.fields)[:12]))
        value = f"{self.fields[key]!r:.80}" if key in self.fields else f"missing among {there}"
        return InputError(f"{self.where}: {key} is {value} and not {kind}. {FIX}")


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
    """What a line holds; older files hold Python values, of which only literals are read."""
    try:
        text = line.decode()
        try:
            fields = json.loads(text)
        except ValueError:
            with warnings.catch_warnings():
                # odd escapes in descriptions are of no interest
                warnings.simplefilter("ignore")
                fields = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise InputError(
            f"{where}: {line!r:.80} is not a JSON record ({error!r:.80}). {FIX}"
        ) from None
    return Record(fields, where)


ColumnTypes = Mapping[str, pl.DataType | type[pl.DataType]]
PARQUET_FILES = tuple(f"{table}.parquet" for table in TABLES)


def find_file(dataset: str, raw: Path, *names: str) -> Path:
    """The first of the names that is in the folder."""
    for name in names:
        if (raw / name).is_file():
            return raw / name
    deeper = next((path for name in names for path in sorted(raw.glob(f"*/{name}"))), None)
    if deeper:
        remedy = f"It is in {deeper.parent}: give that folder as {spelled('raw')}."
    else:
        here = sorted(path.name for path in raw.iterdir())
        remedy = (
            f"Get {dataset} from {DATASETS[dataset].where} and give the folder of its files as "
            f"{spelled('raw')}. In this folder: {', '.join(here[:8]) or 'nothing'}."
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
    optional: ColumnTypes | None = None,
) -> RawTable:
    """The named columns of one of the three tables, in the types asked for.

    Parameters
    ----------
    optional : more columns, of a table that has them; they may be null
    """
    path = raw / f"{table}.parquet"
    with refused(path, ", ".join(columns)):
        frame = pl.read_parquet(path, glob=False)
        for column in columns:
            if column not in frame.columns:
                raise missing_column(path, column, frame.columns)
        more = {name: kind for name, kind in (optional or {}).items() if name in frame.columns}
        typed = frame.select(pl.col(name).cast(kind) for name, kind in {**columns, **more}.items())
    rows = RawTable(typed.lazy().with_row_index("line", offset=1), path.name, unit="row")
    for column in columns:
        if column not in may_be_null:
            rows.refuse(pl.col(column).is_null(), column, "is missing")
    return rows
