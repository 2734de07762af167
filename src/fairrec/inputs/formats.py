"""Which files a path names, and how files of an ending are read."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

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

    >>> detect_format(Path("a.csv.gz")), detect_format(Path("a.Parquet")), detect_format(Path("a.parquet.gz"))
    ('CSV', 'Parquet', None)
    """
    ending, compression = _ending(path)
    found = "Parquet" if path.is_dir() else FORMATS.get(ending)
    return None if compression and found not in ("CSV", "JSON lines") else found


def list_files(path: Path) -> tuple[Path, ...]:
    """The files that a path names: itself, the Parquet files in a folder, or those of a pattern."""
    if path.is_file():
        return (path,)
    if path.is_dir():
        found = (Path(at) / name for at, _, names in os.walk(path) for name in names)
        return tuple(sorted(file for file in found if _is_table(file, path)))
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
    if path.is_dir() and not any(detect_format(file) == "Parquet" for file in files):
        raise InputError(
            f"{plain(path, 300)}: is a folder without Parquet files. Name a file, or a folder "
            "with .parquet files in it."
        )
    if path.is_dir():
        _refuse_logged(path, where)
        _refuse_misnamed(path, where)
    if not files:
        also = " and matches no file" if glob.has_magic(str(path)) else ""
        raise InputError(f"{plain(path, 300)}: does not exist{also}. Check the path.")
    if files == (path,) or (len(files) == 1 and not path.is_dir()):
        return _open_file(files[0], where)
    for file in files:
        if detect_format(file) != "Parquet":
            raise InputError(
                f"{where}: names {len(files)} files, of which {plain(file.name)} is not Parquet. "
                "Only Parquet is read in parts: make one file of them, save them as Parquet, or "
                "move away what is no part."
            )
    return Rows.from_frame(_scan_parts(files, pattern_root(path), where))


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
    _refuse_beginning(file, where)
    if kind == "CSV":
        return TextFile(_readable(file), where, _USUAL.get(ending, _TAB))
    # the whole file, or a type would be that of its first lines
    return Rows.from_frame(
        pl.scan_ndjson(_readable(file, glob_escapes=False), infer_schema_length=None)
    )


def _refuse_beginning(file: Path, where: str) -> None:
    with file.open("rb") as stream:
        beginning = stream.read(8)
    for bytes_, said in _BEGINNINGS.items():
        if beginning.startswith(bytes_):
            raise InputError(f"{where}: is called {plain(file.suffix)} but {said}")


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
    """Whether a file may be a part of the table in a folder."""
    endings = {ending.lower() for ending in file.suffixes[-2:]}
    # notes are text, too
    return not _is_hidden(file, folder) and not endings.isdisjoint(FORMATS.keys() - {".txt"})


def _is_hidden(file: Path, folder: Path) -> bool:
    """Whether a file is hidden by its name or a folder's; writers hide what is no part."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _refuse_logged(folder: Path, where: str) -> None:
    """An error for a folder that also holds files which are no longer a part of its table."""
    for pattern, what in _LOGS.items():
        if next(folder.glob(pattern), None) is not None:
            raise InputError(
                f"{where}: is {what}, and may hold files that its log has removed. Read it with "
                "its own reader, such as Polars (read_delta, scan_iceberg) or Spark, and save it "
                "as Parquet, or pass the data frame."
            )


def _refuse_misnamed(folder: Path, where: str) -> None:
    """An error for a Parquet file that would be left alone for its name."""
    for at, _, names in os.walk(folder):
        for name in names:
            file = Path(at) / name
            if _is_hidden(file, folder) or _is_table(file, folder) or not file.is_file():
                continue
            with file.open("rb") as stream:
                if stream.read(4) == b"PAR1":
                    raise InputError(
                        f"{where}: {plain(file.relative_to(folder))} is a Parquet file by its "
                        "first bytes and not by its name. Rename it to .parquet, or move it away "
                        "if it is no part."
                    )


def pattern_root(path: Path) -> Path:
    """The folder that a pattern stands in, above its first wildcard."""
    while glob.has_magic(str(path)) and not path.is_dir():
        path = path.parent
    return path


def _scan_parts(files: Sequence[Path], root: Path, where: str) -> pl.LazyFrame:
    """The rows of all parts, with a column for each `name=value` in the folders below the root.

    Polars itself would take such names from the folders above the root as well.
    """
    parts = [scan_parquet(file) for file in files]
    shown = [plain(file.relative_to(root)) for file in files]
    schemas = [_schema(part, name) for part, name in zip(parts, shown, strict=True)]
    _refuse_different(schemas, shown, where)
    columns = columns_in_names(files, root)
    if not columns:
        sources: Any = [_readable(file) for file in files]
        return pl.scan_parquet(sources, glob=False, hive_partitioning=False)
    for name in columns.keys() & parts[0].collect_schema().keys():
        for part, file, value in zip(parts, shown, columns[name].cast(pl.String), strict=True):
            is_other = pl.col(name).cast(pl.String).ne_missing(pl.lit(value, dtype=pl.String))
            if part.select(is_other.any()).collect().item():
                raise InputError(
                    f"{where}: {file} has a column {plain(repr(name))} of other values than the "
                    "folder above it names. Drop the column, or rename the folders."
                )
    return pl.concat(
        part.select(parts[0].collect_schema().names()).with_columns(
            pl.lit(values[at], dtype=values.dtype).alias(name) for name, values in columns.items()
        )
        for at, part in enumerate(parts)
    )


def _schema(part: pl.LazyFrame, shown: str) -> pl.Schema:
    try:
        return part.collect_schema()
    except pl.exceptions.PolarsError as error:
        raise pl.exceptions.ComputeError(f"{shown}: {error}") from error


def columns_in_names(files: Sequence[Path], root: Path) -> dict[str, pl.Series]:
    """The columns that folders below the root name, each with one value a file."""
    named = [_values_in(file.relative_to(root).parent) for file in files]
    return {
        name: whole_or_text(pl.Series(name, [one.get(name) for one in named], dtype=pl.String))
        for name in dict.fromkeys(name for one in named for name in one)
    }


def _refuse_different(parts: Sequence[pl.Schema], shown: Sequence[str], where: str) -> None:
    """Refuse parts of other columns than the first has: Polars would stop at some, as a bug."""
    first = parts[0]
    for part, file in zip(parts, shown, strict=True):
        for name in (*first, *part):
            if first.get(name) != part.get(name):
                raise InputError(
                    f"{where}: column {plain(repr(name))} is {first.get(name, 'absent')} in "
                    f"{shown[0]} and {part.get(name, 'absent')} in {file}. Give each part the same "
                    "columns of the same types."
                )


def scan_parquet(file: Path) -> pl.LazyFrame:
    """The rows of one Parquet file, not read yet."""
    return pl.scan_parquet(_readable(file), glob=False, hive_partitioning=False)


def _values_in(folders: Path) -> Mapping[str, str | None]:
    pairs = (part.partition("=") for part in folders.parts)
    return {
        unquote(name): None if value == _NO_VALUE else unquote(value)
        for name, equals, value in pairs
        if equals and name
    }
