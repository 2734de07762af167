"""Which files a path names, how files of an ending are read, and rows of a part of a table."""

from __future__ import annotations

import glob
import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.core.errors import InputError, as_unicode, plain
from fairrec.core.files import file_sum
from fairrec.inputs.frames import Source
from fairrec.inputs.text_files import TextFile

FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "Parquet"),
    **dict.fromkeys((".csv", ".tsv", ".txt", ".inter", ".user", ".item"), "CSV"),
    **dict.fromkeys((".jsonl", ".ndjson"), "JSON lines"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "Arrow"),
}
"""The format that each ending names; text may be compressed besides."""
COMPRESSED = (".gz", ".zst")

_SEPARATORS = {".csv": (",",), ".txt": ("\t", ",")}
_TAB = ("\t",)
_EXCEL = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
_LOGS = ("_delta_log", ".hoodie", "metadata/*.metadata.json")
"""What a folder holds where a log says which of its files still belong to the table."""


def detect_format(path: Path) -> str | None:
    """The format that the ending of a path names, or None; of a folder that of its parts.

    >>> detect_format(Path("a.csv.gz")), detect_format(Path("a.Parquet"))
    ('CSV', 'Parquet')
    """
    ending, compression = _ending(path)
    found = "Parquet" if path.is_dir() else FORMATS.get(ending)
    return None if compression and found not in ("CSV", "JSON lines") else found


def list_files(path: Path) -> tuple[Path, ...]:
    """The files that a path names: itself, those in a folder, or those of a pattern.

    Files and folders whose names begin with '.' or '_' are no parts of a table.
    """
    if path.is_file():
        return (path,)
    if not (path.is_dir() or glob.has_magic(str(path))):
        return ()
    root = pattern_root(path)
    found = path.rglob("*") if path.is_dir() else root.glob(str(path.relative_to(root)))
    return tuple(
        sorted(
            file
            for file in found
            if file.is_file()
            and not any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
        )
    )


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
    if as_unicode(str(path)) != str(path):
        raise InputError(f"{where}: its path is no Unicode. Rename it.")
    files = list_files(path)
    if len(files) == 1 and not path.is_dir():
        return _open_file(files[0], where)
    if not files:
        if path.is_dir():
            raise InputError(f"{plain(path, 300)}: is a folder without Parquet files. Name a file.")
        raise InputError(f"{plain(path, 300)}: does not exist. Check the path.")
    if path.is_dir() and any(next(path.glob(log), None) for log in _LOGS):
        raise InputError(
            f"{where}: is a Delta, Hudi or Iceberg table, which may hold files that its log has "
            "removed. Read it with Polars (read_delta, scan_iceberg) and pass the data frame."
        )
    for file in files:
        if detect_format(file) != "Parquet":
            raise InputError(
                f"{where}: {plain(file.name)} is not Parquet by its name, and only Parquet is read "
                "in several files. Move it away, or save all as .parquet."
            )
    return Source(scan_stored(path))


def is_stored(path: Path) -> bool:
    """Whether a table is in Parquet files."""
    return all(detect_format(file) == "Parquet" for file in list_files(path))


def scan_stored(path: Path) -> pl.LazyFrame:
    """The rows of Parquet files, with a column for each `name=value` in folders below the path.

    A column of the files stays what it is.
    """
    files, root = list_files(path), pattern_root(path)
    if files == (path,):
        return pl.scan_parquet(path, glob=False, hive_partitioning=False)
    rows = pl.scan_parquet([*files], glob=False, hive_partitioning=False)
    parts = {part for file in files for part in file.relative_to(root).parent.parts if "=" in part}
    own = rows.collect_schema().names()
    below = sorted({part.partition("=")[0] for part in parts} - {*own})
    if not below:
        return rows
    # Polars also takes names above the root, and for columns of the file
    named = pl.scan_parquet([*files], glob=False, hive_partitioning=True)
    if {part.partition("=")[0] for file in files for part in file.parts} & {*own}:
        return pl.concat([rows, named.select(below)], how="horizontal")
    return named.select(*own, *below)


def _open_file(file: Path, where: str) -> Source:
    ending, _ = _ending(file)
    kind = detect_format(file)
    if kind == "Parquet":
        return Source(scan_stored(file))
    if kind == "Arrow":
        return Source(pl.scan_ipc(file, glob=False))
    if kind is None:
        what = "is an Excel file" if ending in _EXCEL else "is not known"
        raise InputError(
            f"{where}: the ending {plain(repr(file.suffix))} {what}. Save or convert the table as "
            f"CSV or Parquet, or pass a data frame. Known: {', '.join(FORMATS)}; text also with "
            f"{' or '.join(COMPRESSED)}."
        )
    with file.open("rb") as stream:
        if stream.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(f"{where}: is UTF-16. Save it as UTF-8.")
    if kind == "CSV":
        return TextFile(file, where, _SEPARATORS.get(ending, _TAB))
    # Polars takes any name of JSON for a pattern
    source = file.read_bytes() if glob.has_magic(str(file)) else file
    # the whole file, or a type would be that of its first lines
    return Source(pl.scan_ndjson(source, infer_schema_length=None))


def _ending(path: Path) -> tuple[str, str]:
    """The ending that names the format, and that of a compression or nothing."""
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    if len(endings) == 2 and endings[1] in COMPRESSED:
        return endings[0], endings[1]
    return path.suffix.lower(), ""


def pattern_root(path: Path) -> Path:
    """The folder that a pattern stands in, above its first wildcard."""
    while glob.has_magic(str(path)) and not path.is_dir():
        path = path.parent
    return path


@dataclass(frozen=True, slots=True)
class RowSlice:
    """The rows of some users of a table: a description that any process can open by itself.

    Parameters
    ----------
    where : the name of the table in messages
    path : of the whole table
    files : which hold the rows
    is_text : whether user ids are text in the whole table, though these may look like numbers
    item_counts : a file with the number of rows of each item in the whole table
    """

    where: str
    path: Path
    files: tuple[Path, ...]
    is_text: bool = False
    item_counts: Path | None = None

    def scan(self) -> pl.LazyFrame:
        """The rows, not read yet."""
        return pl.scan_parquet([*self.files], glob=False, hive_partitioning=False)

    def open(self) -> Source:
        """The rows as a source of a table."""
        return Source(self.scan())

    def read_item_counts(self) -> tuple[pl.Series, IntArray]:
        """The items of the whole table, as they are compared, and the rows of each."""
        assert self.item_counts is not None
        counts = pl.read_parquet(self.item_counts)
        return counts["item_id"], counts["n"].to_numpy().astype(np.int64)
