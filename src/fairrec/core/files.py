"""Files that appear under their names whole or not at all, and their checksums."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from fairrec.core.errors import InputError, OutputError, is_panic, listed, plain
from fairrec.core.options import Blank, spelled
from fairrec.core.scratch import scratch, synced

if TYPE_CHECKING:
    import polars as pl

ROWS_TOGETHER = 1 << 18
"""Rows of a row group: one number, so that bytes do not tell how a table was put together."""


def file_sum(file: Path) -> str:
    """The SHA-256 checksum of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_file(file: Path, fix: str = "Check the path.") -> BinaryIO:
    """A file to read from; an error in words where there is none, or one that may never end."""
    with errors_of_reading(file, fix):
        kind = file.stat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise InputError(
                f"{plain(file, 300)}: is a pipe or a device and no file, so it may never end. Save "
                "what it holds as a file, and name that."
            )
        return file.open("rb")


def file_bytes(file: Path, most: int = -1, fix: str = "Check the path.") -> bytes:
    """The content of a file.

    Parameters
    ----------
    most : bytes to read, from its start; -1 for all
    """
    with open_file(file, fix) as stream, errors_of_reading(file, fix):
        return stream.read(most)


@contextmanager
def errors_of_reading(file: Path, fix: str) -> Iterator[None]:
    """Errors of the disk, and of names that no file can have, in words."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError) as error:  # a path with a zero byte is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{plain(file, 300)}: cannot be read ({reason}). {fix}") from error


def check_writable(folder: Path) -> None:
    """Refuse an output folder that cannot be made or written, before any work is done."""
    nearest = folder
    with errors_of_disk(folder):
        while not nearest.exists() and nearest != nearest.parent:
            nearest = nearest.parent
        for name in folder.relative_to(nearest).parts:
            (nearest / name).exists()  # an error of the disk where a name is too long
    if not nearest.is_dir():
        raise OutputError(f"{folder}: {nearest} is a file, not a folder. Choose another folder.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise OutputError(f"{folder}: no permission to write in {nearest}. Choose another folder.")


def is_json_with(file: Path, *names: str) -> bool:
    """Whether a file holds a JSON object with these names, by which one of ours is known."""
    try:
        content = json.loads(file_bytes(file))
    except (InputError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {*names} <= content.keys()


def refuse_foreign(folder: Path, names: Iterable[str], called: str) -> None:
    """Refuse to write over files of a folder in which nothing tells that they are ours.

    Parameters
    ----------
    called : what is to be written, without an article
    """
    there = [name for name in names if os.path.lexists(folder / name)]
    if there:
        raise OutputError(
            f"{plain(folder, 300)}: {listed(there)} there is of no {called} of FairRec's and would "
            "be overwritten. Choose another folder."
        )


@contextmanager
def errors_of_disk(where: Path) -> Iterator[None]:
    """Errors of the disk in words that say where, and what to do."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(
            f"{where}: cannot be written ({error.strerror or error}). Choose another place."
        ) from error


@contextmanager
def errors_of_polars() -> Iterator[None]:
    """A full disk while Polars writes, as an error of the disk."""
    import polars as pl

    try:
        yield
    except BaseException as error:
        if isinstance(error, pl.exceptions.PolarsError) or is_panic(error):
            raise OSError(plain(error, 300)) from error
        raise


@contextmanager
def errors_of_scratch(folder: Path) -> Iterator[None]:
    """Errors of the disk where something is needed on it until the end."""
    try:
        with errors_of_polars():
            yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(
            f"{plain(folder, 300)}: cannot hold the scratch files of parts "
            f"({plain(error.strerror or error, 200)}). Name a folder with more room: "
            f"{spelled('scratch', Blank('FOLDER'))}"
        ) from error


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """A file beside `file` to write to, which takes its place when all is written.

    Whatever happens, there is the old file or the new one, never half of one. Who may read the old
    one may read the new one, and nobody else.
    """
    with errors_of_disk(file):
        # a device or a pipe has no place to take
        if file.exists() and not file.is_file() and not file.is_dir():
            yield file
            return
        target = Path(os.path.realpath(file))
        if target.is_dir():
            raise IsADirectoryError(f"{target.name} is a folder")
        with scratch(target.parent, target.name, is_folder=False) as part:
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
            if mode is not None:
                part.chmod(mode | stat.S_IRUSR | stat.S_IWUSR)
            yield part
            synced(part)
            if mode is not None:
                part.chmod(mode)
            part.replace(target)
            synced(target.parent)


def write_text(file: Path, text: str) -> None:
    """Write a text whole or not at all."""
    with whole_file(file) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_table(table: pl.DataFrame, file: Path, rows_together: int = ROWS_TOGETHER) -> None:
    """Write a table whole or not at all, as Parquet or, by its ending, CSV.

    Parameters
    ----------
    rows_together : the size of row groups of Parquet
    """
    if file.suffix.lower() not in (".parquet", ".pq", ".csv"):
        raise OutputError(f"{file}: is no Parquet or CSV file. Name it NAME.parquet or NAME.csv.")
    with errors_of_disk(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as part:
        as_csv = file.suffix.lower() == ".csv"
        put_table(table, part, as_csv=as_csv, rows_together=rows_together)


def put_table(
    table: pl.DataFrame,
    file: Path,
    compression_level: int | None = None,
    as_csv: bool = False,
    rows_together: int = ROWS_TOGETHER,
) -> None:
    """Write a table into a file that is not yet under its own name."""
    # opened here, because Polars takes no path that is not Unicode
    with file.open("wb") as stream, errors_of_polars():
        if as_csv:
            from fairrec.core.csv_cells import without_formulas

            without_formulas(table).write_csv(stream)
        else:
            table.write_parquet(
                stream, compression_level=compression_level, row_group_size=rows_together
            )


def sink_table(table: pl.LazyFrame, file: Path) -> None:
    """Write a table that is too large to be read at once, as `put_table` does."""
    with file.open("wb") as stream, errors_of_polars():
        table.sink_parquet(stream, compression_level=1, maintain_order=True)
