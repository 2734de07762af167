"""Which files a path names, how files of an ending are read, and slices of their rows."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.core.errors import InputError, as_unicode, plain
from fairrec.core.files import file_sum
from fairrec.inputs.frames import Rows, Source
from fairrec.inputs.ids import whole_or_text
from fairrec.inputs.text_files import TextFile

FORMATS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".csv": "CSV",
    ".tsv": "CSV",
    ".txt": "CSV",
    ".inter": "CSV",
    ".user": "CSV",
    ".item": "CSV",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}
"""The format that each ending names; text may be compressed besides."""

_COMPRESSED = (".gz", ".zst")
_USUAL = {".csv": (",",), ".txt": ("\t", ",")}
_TAB = ("\t",)
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

_SAVE = "Save the table as CSV or Parquet"
_EXCEL = f"is an Excel file. {_SAVE}, or read it in Python and pass the data frame."
_ARCHIVE = "is an archive. Unpack it and name the table inside."
_PICKLE = (
    "is a pickle, which can run any code when it is opened and so is never read. "
    f"{_SAVE}, or pass the data frame itself."
)
_REFUSED = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), _EXCEL),
    **dict.fromkeys((".zip", ".tar", ".tgz", ".7z", ".rar"), _ARCHIVE),
    **dict.fromkeys((".pkl", ".pickle", ".p", ".joblib"), _PICKLE),
    ".json": "is JSON as a whole. Write one object a line and call it .jsonl.",
}
_BEGINNINGS = {
    b"PK\x03\x04": "is a zip or an Excel file. Unpack it, or save the table as CSV.",
    b"PAR1": "is a Parquet file. Rename it to .parquet.",
    b"ARROW1": "is an Arrow file. Rename it to .arrow.",
    b"\xff\xfe": "is UTF-16. Save it as UTF-8.",
    b"\xfe\xff": "is UTF-16. Save it as UTF-8.",
    b"\x80\x03": _PICKLE,
    b"\x80\x04": _PICKLE,
    b"\x80\x05": _PICKLE,
}
"""What the first bytes of a file say that is called a text file and is none."""
_LOGS = {
    "_delta_log": "a Delta table",
    ".hoodie": "a Hudi table",
    "metadata/*.metadata.json": "an Iceberg table",
}
"""Folders of a table in which a log says which files belong to it, by what each has in it."""


def detect_format(path: Path) -> str | None:
    """The format that the ending of a path names, or None; of a folder that of its parts.

    >>> detect_format(Path("a.csv.gz")), detect_format(Path("a.Parquet"))
    ('CSV', 'Parquet')
    """
    ending, compression = _ending(path)
    found = "Parquet" if path.is_dir() else FORMATS.get(ending)
    return None if compression and found not in ("CSV", "JSON lines") else found


def list_files(path: Path) -> tuple[Path, ...]:
    """The files that a path names: itself, the Parquet files in a folder, or those of a pattern."""
    if path.is_file():
        return (path,)
    if path.is_dir():
        found = (file for file in path.rglob("*") if file.is_file() and _is_table(file, path))
        return tuple(sorted(found))
    if not glob.has_magic(str(path)):
        return ()
    root = pattern_root(path)
    found = root.glob(str(path.relative_to(root)))
    return tuple(sorted(file for file in found if file.is_file() and file.name[0] != "."))


def checksum(path: Path) -> str:
    """The SHA-256 checksum of a file; of several, that over the names and checksums of all."""
    files = list_files(path)
    if files == (path,):
        return file_sum(path)
    sums = hashlib.sha256()
    for file in files:
        name = file.relative_to(pattern_root(path)).as_posix()
        sums.update(f"{file_sum(file)} {len(name)} {as_unicode(name)}\n".encode())
    return sums.hexdigest()


def open_path(path: Path, where: str) -> Source:
    """The table in a file, in the parts of a folder or in those that a pattern names."""
    files = list_files(path)
    if path.is_dir():
        if not any(detect_format(file) == "Parquet" for file in files):
            raise InputError(
                f"{plain(path, 300)}: is a folder without Parquet files. Name a file, or a folder "
                "with .parquet files in it."
            )
        for pattern, what in _LOGS.items():
            if next(path.glob(pattern), None) is not None:
                raise InputError(
                    f"{where}: is {what}, and may hold files that its log has removed. Read it "
                    "with its own reader, such as Polars (read_delta, scan_iceberg) or Spark, and "
                    "save it as Parquet, or pass the data frame."
                )
    elif len(files) == 1:
        return _open_file(files[0], where)
    if not files:
        also = " and matches no file" if glob.has_magic(str(path)) else ""
        raise InputError(f"{plain(path, 300)}: does not exist{also}. Check the path.")
    for file in files:
        if detect_format(file) != "Parquet":
            raise InputError(
                f"{where}: names {len(files)} files, of which {plain(file.name)} is not Parquet "
                "by its name. Only Parquet is read in parts: make one file of them, save them as "
                ".parquet, or move away what is no part."
            )
    rows = file_rows(path)
    _refuse_different(rows, pattern_root(path), where)
    return Rows.from_frame(scan_rows(rows))


def _open_file(file: Path, where: str) -> Source:
    ending, _ = _ending(file)
    kind = detect_format(file)
    if kind == "Parquet":
        return Rows.from_frame(scan_parquet(file))
    if kind == "Arrow":
        return Rows.from_frame(pl.scan_ipc(_readable(file), glob=False))
    if kind is None:
        if file.suffix.lower() in _REFUSED:
            raise InputError(f"{where}: {_REFUSED[file.suffix.lower()]}")
        raise InputError(
            f"{where}: the ending {plain(repr(file.suffix))} is not known. "
            f"Known: {', '.join(FORMATS)}; text also with {' or '.join(_COMPRESSED)}. "
            "Rename or convert the file."
        )
    with file.open("rb") as stream:
        beginning = stream.read(8)
    for bytes_, what in _BEGINNINGS.items():
        if beginning.startswith(bytes_):
            raise InputError(f"{where}: is called {plain(file.suffix)} but {what}")
    if kind == "CSV":
        return TextFile(_readable(file), where, _USUAL.get(ending, _TAB))
    # the whole file, or a type would be that of its first lines
    return Rows.from_frame(
        pl.scan_ndjson(_readable(file, glob_escapes=False), infer_schema_length=None)
    )


def _ending(path: Path) -> tuple[str, str]:
    """The ending that names the format, and that of a compression or nothing."""
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    if len(endings) == 2 and endings[1] in _COMPRESSED:
        return endings[0], endings[1]
    return path.suffix.lower(), ""


def _readable(file: Path, glob_escapes: bool = True) -> Path | bytes:
    """What Polars can be given: not every name is Unicode, and some read a name as a pattern."""
    is_plain = as_unicode(str(file)) == str(file)
    if is_plain and (glob_escapes or not glob.has_magic(str(file))):
        return file
    return file.read_bytes()


def _is_table(file: Path, folder: Path) -> bool:
    """Whether a file may be a part of the table in a folder; writers hide what is no part."""
    if any(part.startswith((".", "_")) for part in file.relative_to(folder).parts):
        return False
    # notes are text, too
    if not {ending.lower() for ending in file.suffixes[-2:]}.isdisjoint(FORMATS.keys() - {".txt"}):
        return True
    with file.open("rb") as stream:
        return stream.read(4) == b"PAR1"


def pattern_root(path: Path) -> Path:
    """The folder that a pattern stands in, above its first wildcard."""
    while glob.has_magic(str(path)) and not path.is_dir():
        path = path.parent
    return path


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


def file_rows(path: Path) -> tuple[FileRows, ...]:
    """All rows of each Parquet file of a path, with a column for each `name=value` in folders.

    Polars itself would take such names from the folders above the root as well.
    """
    files, root = list_files(path), pattern_root(path)
    if len(files) == 1 and not path.is_dir():
        return (FileRows(files[0]),)
    named = [_values_in_names(file.relative_to(root).parent) for file in files]
    columns = {
        name: whole_or_text(pl.Series(name, [one.get(name) for one in named], dtype=pl.String))
        for name in dict.fromkeys(name for one in named for name in one)
    }
    return tuple(
        FileRows(
            file,
            named=tuple((name, one[at], one.dtype == pl.Int64) for name, one in columns.items()),
        )
        for at, file in enumerate(files)
    )


def _values_in_names(folders: Path) -> dict[str, str | None]:
    pairs = (part.partition("=") for part in folders.parts)
    return {
        unquote(name): None if value == _NO_VALUE else unquote(value)
        for name, equals, value in pairs
        if equals and name
    }


def scan_rows(rows: Sequence[FileRows]) -> pl.LazyFrame:
    """All these rows, one after the other; of none the columns are those of the first file."""
    some = [one for one in rows if one.stop is None or one.stop > one.start] or rows[:1]
    if all(one == FileRows(one.file) for one in some):
        files: Any = [_readable(one.file) for one in some]
        return pl.scan_parquet(files, glob=False, hive_partitioning=False)
    # the first file gives the order of the columns
    names = some[0].scan().collect_schema().names()
    return pl.concat([one.scan().select(names) for one in some])


def scan_parquet(file: Path) -> pl.LazyFrame:
    """The rows of one Parquet file, not read yet."""
    return pl.scan_parquet(_readable(file), glob=False, hive_partitioning=False)


def _refuse_different(rows: Sequence[FileRows], root: Path, where: str) -> None:
    """Refuse parts of other columns than the first has: Polars would stop at some, as a bug."""
    first: pl.Schema | None = None
    for one in rows:
        name = plain(one.file.relative_to(root))
        part = scan_parquet(one.file)
        try:
            schema = part.collect_schema()
        except pl.exceptions.PolarsError as error:
            raise pl.exceptions.ComputeError(f"{name}: {error}") from error
        if first is None:
            first, first_name = schema, name
        for column in (*first, *schema):
            if first.get(column) != schema.get(column):
                raise InputError(
                    f"{where}: column {plain(repr(column))} is {first.get(column, 'absent')} in "
                    f"{first_name} and {schema.get(column, 'absent')} in {name}. Give each part "
                    "the same columns of the same types."
                )
        for column, value, _ in one.named:
            as_named = pl.lit(None if value is None else str(value), dtype=pl.String)
            is_other = pl.col(column).cast(pl.String).ne_missing(as_named)
            if column in schema and part.select(is_other.any()).collect().item():
                raise InputError(
                    f"{where}: {name} has a column {plain(repr(column))} of other values than the "
                    "folder above it names. Drop the column, or rename the folders."
                )


@dataclass(frozen=True, slots=True)
class RowSlice:
    """Rows of one table that is read in parts: a description that any process can open by itself.

    Parameters
    ----------
    where : the name of the table in messages
    path : of the whole table
    rows : never none; one without rows has an empty range
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
