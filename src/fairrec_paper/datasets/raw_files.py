"""Files of publishers: find them, read them line by line, and refuse what does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.errors import InputError
from fairrec.core.options import spell
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


BATCH = 50_000


def read_fields(path: Path, separator: str, fields: Sequence[str]) -> RawTable:
    """The lines of a file without header or quotes, one column a field."""
    # not splitlines, which also breaks at characters that may stand in a title
    texts = read_text(path).replace("\r\n", "\n").split("\n")
    parts = pl.col("text").str.split_exact(separator, len(fields))
    rows = (
        pl.LazyFrame({"text": texts})
        .with_row_index("line", offset=1)
        .filter(pl.col("text") != "")
        .with_columns(parts.struct.rename_fields([*fields, "_more"]).alias("_parts"))
        .unnest("_parts")
    )
    RawTable(rows, path.name).refuse(
        pl.col(fields[-1]).is_null() | pl.col("_more").is_not_null(),
        "text",
        f"does not have {len(fields)} fields ({', '.join(fields)}) separated by {separator!r}",
    )
    return RawTable(rows.drop("text", "_more").collect().lazy(), path.name)


def scan_tabs(path: Path, columns: Sequence[str]) -> RawTable:
    """The columns of a tab-separated file in UTF-8 without a header or quotes, as texts.

    Rows stream from disk at every use.
    """
    rows = pl.scan_csv(
        path,
        glob=False,
        has_header=False,
        separator="\t",
        quote_char=None,
        schema=dict.fromkeys(columns, pl.String),
        row_index_name="line",
        row_index_offset=1,
    ).with_columns(pl.col(columns).fill_null(""))
    with refused(path, f"{len(columns)} columns of UTF-8 text with tabs between them"):
        rows.select(pl.all().count()).collect(engine="streaming")
    return RawTable(rows, path.name)


def read_csv(path: Path, columns: Sequence[str]) -> RawTable:
    """The named columns of a comma-separated file in UTF-8 with a header and perhaps quotes.

    Rows are numbered as a spreadsheet does: the first one holds the names.
    """
    with refused(path, "CSV"):
        frame = pl.read_csv(path, glob=False, infer_schema=False)
    cells = frame.select(_present(path, frame, columns)).fill_null("")
    return RawTable(cells.lazy().with_row_index("line", offset=2), path.name, unit="row")


def read_text(path: Path) -> str:
    """The text of a file, in UTF-8 or else in Latin-1."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Latin-1 text with accents is hardly ever valid UTF-8
        return content.decode("latin-1")


def make_frame(rows: Iterable[tuple[Any, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    """Rows as a frame, built in batches: few of them are Python objects at a time."""
    left = iter(rows)
    frames = [pl.DataFrame(schema=schema)]
    while batch := list(islice(left, BATCH)):
        frames.append(pl.DataFrame(batch, schema=schema, orient="row"))
    return pl.concat(frames)


def _present(path: Path, frame: pl.DataFrame, columns: Iterable[str]) -> list[str]:
    """The columns, all of which must be there."""
    for column in columns:
        if column not in frame.columns:
            raise InputError(
                f"{path.name}: no column '{column}'. Columns here: {', '.join(frame.columns)}. "
                "Give the publisher's file with its header."
            )
    return [*columns]


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


PARQUET_FILES = tuple(f"{table}.parquet" for table in TABLES)


def find_file(dataset: str, raw: Path, *names: str) -> Path:
    """The first of the names that is in the folder."""
    for name in names:
        if (raw / name).is_file():
            return raw / name
    deeper = next((path for name in names for path in sorted(raw.glob(f"*/{name}"))), None)
    if deeper:
        remedy = f"It is in {deeper.parent}: give that folder as {spell('raw')}."
    else:
        here = sorted(path.name for path in raw.iterdir())
        remedy = (
            f"Get {dataset} from {DATASETS[dataset].where} and give the folder of its files as "
            f"{spell('raw')}. In this folder: {', '.join(here[:8]) or 'nothing'}."
        )
    raise InputError(f"{raw}: no {' or '.join(names)} there. {remedy}")


def holds_parquet(raw: Path) -> bool:
    """Whether the folder holds the three tables as Parquet files."""
    return all((raw / name).is_file() for name in PARQUET_FILES)


def read_parquet(raw: Path, table: str, columns: Sequence[str]) -> RawTable:
    """The named columns of one of the three tables, as texts like those of the other files."""
    path = raw / f"{table}.parquet"
    with refused(path, "Parquet"):
        frame = pl.read_parquet(path, glob=False)
        texts = frame.select(_present(path, frame, columns)).cast(pl.String).fill_null("")
    return RawTable(texts.lazy().with_row_index("line", offset=1), path.name, unit="row")
