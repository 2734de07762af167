"""A bundle: a data set in one folder and one form; files of publishers, of which it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from fairrec.core.atomic_io import atomic_folder, check_writable, put_table, refuse_foreign
from fairrec.core.errors import InputError, plain
from fairrec.core.files import file_sum, is_json_with, load_json, read_parquet
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.core.registry import Registry

TABLES = ("interactions", "users", "items")
_MANIFEST = "manifest.json"
_AGAIN = "Prepare the data again, into another folder."
"""In its own folder, a damaged bundle would be taken for files of others."""


class Manifest(BaseModel):
    """What a bundle holds and where it came from; `manifest.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["1"] = "1"
    name: str
    source: str
    licence: str
    attributes: tuple[str, ...]
    positive: str
    order: str
    n_interactions: int
    n_positive: int
    n_users: int
    n_items: int
    notes: tuple[str, ...] = ()
    sha256: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Bundle:
    """A data set, ready to split and train on.

    Parameters
    ----------
    interactions : `user_id`, `item_id`, `is_positive`, `time` (seconds; null where not known), and
        what else the publisher gives
    users : `user_id` and attributes
    items : `item_id`, and `categories` (lists) where the publisher gives them
    """

    interactions: pl.DataFrame
    users: pl.DataFrame
    items: pl.DataFrame
    manifest: Manifest

    @property
    def has_categories(self) -> bool:
        """Whether items have categories."""
        return "categories" in self.items.columns


def refuse_no_bundle(folder: Path) -> None:
    """Refuse a folder in which a bundle would replace tables that are of none."""
    if not is_json_with(folder / _MANIFEST, "attributes", "positive", "sha256"):
        refuse_foreign(folder, (*(f"{name}.parquet" for name in TABLES), _MANIFEST), "bundle")


def write_bundle(bundle: Bundle, folder: Path) -> Manifest:
    """Write the tables and the manifest; they appear only when all are complete."""
    refuse_no_bundle(folder)
    with atomic_folder(folder, owned=(_MANIFEST,)) as part:
        for name in TABLES:
            put_table(getattr(bundle, name), part / f"{name}.parquet", compression_level=1)
        sums = {name: file_sum(part / f"{name}.parquet") for name in TABLES}
        manifest = bundle.manifest.model_copy(update={"sha256": sums})
        (part / _MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return manifest


def read_bundle(folder: Path) -> Bundle:
    """The bundle in a folder; an error where it is none, or not the one that was written."""
    manifest_file = folder / _MANIFEST
    if not manifest_file.exists():
        raise InputError(
            f"{plain(folder, 300)}: no bundle there. Make one with fairrec-paper prepare"
        )
    manifest = load_json(manifest_file, Manifest, "manifest", _AGAIN, _AGAIN)
    frames = {}
    for name in TABLES:
        file = folder / f"{name}.parquet"
        if not file.is_file() or file_sum(file) != manifest.sha256.get(name):
            raise InputError(
                f"{file}: is missing or not what was prepared (its checksum differs from "
                f"manifest.json). {_AGAIN}"
            )
        frames[name] = read_parquet(file, _AGAIN)
    return Bundle(manifest=manifest, **frames)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set as its publisher offers it.

    Parameters
    ----------
    files : the publisher's files that are read
    attributes : those of the paper, or what stands in for them
    n_groups : intersections of all attributes, as published
    read : folder with the files -> bundle
    """

    title: str
    where: str
    licence: str
    files: tuple[str, ...]
    attributes: tuple[str, ...]
    n_groups: str
    read: Callable[[Path, Progress], Bundle]


DATASETS: Registry[Dataset] = Registry("data set", "fairrec_paper.datasets.readers")


def prepare(name: str, raw: Path, out: Path, progress: Progress | None = None) -> Manifest:
    """Read the files in `raw`, write the bundle to `out` and return its manifest.

    Parameters
    ----------
    name : one of `DATASETS`
    raw : folder with the publisher's files
    progress : called with stage, steps done and steps in all
    """
    progress = progress or (lambda stage, done, total: None)
    dataset = DATASETS[name]
    if not raw.is_dir():
        raise InputError(
            f"{raw}: is no folder. Give the folder of the data set's files as {spell('raw')}."
        )
    check_writable(out)
    refuse_no_bundle(out)
    try:
        bundle = dataset.read(raw, progress)
    except OSError as error:
        raise InputError(f"{raw}: cannot be read ({error}). Check its permissions.") from error
    progress("writing", 0, 0)
    return write_bundle(bundle, out)


def count_note(what: str, n: int) -> tuple[str, ...]:
    """A note on so many of something, or none where there are none."""
    return (f"{what}: {n:,}",) if n else ()


def first_of_each_pair(interactions: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The first row of each user and item, and a note on the others."""
    firsts = interactions.unique(["user_id", "item_id"], keep="first", maintain_order=True)
    again = interactions.height - firsts.height
    return firsts, count_note("further rows of the same user and item, dropped", again)


def most_frequent(column: str, by: str, rows: pl.LazyFrame) -> pl.DataFrame:
    """`by` and its most frequent value of `column`; the first in sorted order among equals."""
    return (
        rows.group_by(by, column)
        .len()
        .collect(engine="streaming")
        .sort(by, "len", column, descending=[False, True, False])
        .unique(by, keep="first", maintain_order=True)
        .drop("len")
    )


def make_bundle(
    name: str,
    interactions: pl.DataFrame,
    users: pl.DataFrame,
    items: pl.DataFrame,
    files: Iterable[str],
    positive: str,
    order: str,
    notes: Iterable[str] = (),
) -> Bundle:
    """The bundle of a data set; users without interactions are dropped and counted.

    Parameters
    ----------
    interactions : each user and item once, users all in `users`
    files : what was read
    positive, order, notes : see `Manifest`
    """
    dataset, attributes = DATASETS[name], DATASETS[name].attributes
    if interactions.height == 0:
        raise InputError(
            f"{name}: no interaction is left ({'; '.join(notes) or 'the files are empty'}). "
            "Check that the files are whole."
        )
    active = users.filter(pl.col("user_id").is_in(interactions["user_id"].unique().implode()))
    idle = count_note("users without interactions, dropped", users.height - active.height)
    unknown = (count_note(f"users without {one}", active[one].null_count()) for one in attributes)
    manifest = Manifest(
        name=name,
        source=f"{dataset.where} (read from {', '.join(files)})",
        licence=dataset.licence,
        attributes=attributes,
        positive=positive,
        order=order,
        n_interactions=interactions.height,
        n_positive=int(interactions["is_positive"].sum()),
        n_users=active.height,
        n_items=items.height,
        notes=(*notes, *idle, *chain(*unknown)),
    )
    return Bundle(interactions, active, items, manifest)


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
    cells = _present(path, frame, columns).fill_null("")
    return RawTable(cells.lazy().with_row_index("line", offset=2), path.name, unit="row")


def read_text(path: Path) -> str:
    """The text of a file, in UTF-8 or else in Latin-1."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Latin-1 text with accents is hardly ever valid UTF-8
        return content.decode("latin-1")


def _present(path: Path, frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """These columns, all of which must be there."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InputError(
            f"{path.name}: no column '{missing[0]}'. Columns here: {', '.join(frame.columns)}. "
            "Give the publisher's file with its header."
        )
    return frame.select(columns)


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
    here = sorted(path.name for path in raw.iterdir())
    raise InputError(
        f"{raw}: no {' or '.join(names)} there. Get {dataset} from {DATASETS[dataset].where} and "
        f"give the folder of its files as {spell('raw')}. In this folder: "
        f"{', '.join(here[:8]) or 'nothing'}."
    )


def holds_parquet(raw: Path) -> bool:
    """Whether the folder holds the three tables as Parquet files."""
    return all((raw / name).is_file() for name in PARQUET_FILES)


def read_raw_parquet(raw: Path, table: str, columns: Sequence[str]) -> RawTable:
    """The named columns of one of the three tables, as texts like those of the other files."""
    path = raw / f"{table}.parquet"
    with refused(path, "Parquet"):
        frame = pl.read_parquet(path, glob=False)
        texts = _present(path, frame, columns).cast(pl.String).fill_null("")
    return RawTable(texts.lazy().with_row_index("line", offset=1), path.name, unit="row")
