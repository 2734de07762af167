"""Files and folders that are written whole or not at all.

The files of a folder are made in `.writing` inside it, under a lock, and then take the places of
the old ones. The file that vouches for the others goes first and comes last, so that a folder in
which a command was stopped has no such file, and the next writer removes what is left.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from fairrec.core.errors import OutputError, is_panic, listed, plain
from fairrec.core.options import Blank, spell

if TYPE_CHECKING:
    import polars as pl

ROWS_TOGETHER = 1 << 18
"""Rows of a row group: fixed, so that bytes do not depend on how a table was put together."""
PATIENCE = 60.0
"""Seconds to wait for another writer."""
SCRATCH = ".writing"


@contextmanager
def atomic_folder(folder: Path, owned: Sequence[str]) -> Iterator[Path]:
    """An empty folder to fill, whose files replace those of `folder` once all are written.

    Parameters
    ----------
    owned : the writer's own names, so that older files go even where no new one is made; all other
        files stay. The last one vouches for the others: its reader looks at it first
    """
    check_writable(folder)
    with errors_of_disk(folder):
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with _lock(folder / SCRATCH):
                part = folder / SCRATCH
                shutil.rmtree(part, ignore_errors=True)
                part.mkdir(mode=0o700)
                try:
                    yield part
                    _replace(part, folder, owned)
                finally:
                    shutil.rmtree(part, ignore_errors=True)
        finally:
            if is_new:
                with suppress(OSError):  # it stays where there is something in it
                    folder.rmdir()


@contextmanager
def _lock(part: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    file = part.with_name(f"{part.name}.lock")
    try:
        with FileLock(file, timeout=PATIENCE, poll_interval=0.01, thread_local=False):
            try:
                yield
            finally:
                # while it is held: a waiting writer sees that it is gone, and makes another one
                with suppress(OSError):
                    file.unlink()
    except Timeout as error:
        raise OutputError(
            f"{part.parent}: another command is writing there. Wait for it, or choose another "
            "folder."
        ) from error


def _replace(part: Path, folder: Path, owned: Sequence[str]) -> None:
    names, last = {path.name for path in part.iterdir()}, owned[-1]
    for name in {*names, *owned}:
        if (folder / name).is_dir():
            raise IsADirectoryError(f"{name} is a folder there")
    for name in names:
        _finish(part / name, folder / name)
    (folder / last).unlink(missing_ok=True)
    for name in sorted(names - {last}):
        (part / name).replace(folder / name)
    for name in {*owned} - names:
        (folder / name).unlink(missing_ok=True)
    if last in names:
        (part / last).replace(folder / last)


def _finish(new: Path, old: Path) -> None:
    """Have a file on the disk, not only on its way there, with the rights of the one before."""
    with new.open("r+b") as stream:
        os.fsync(stream)
    if old.exists():
        shutil.copymode(old, new)


def is_interrupted(folder: Path) -> bool:
    """Whether a command was killed while it wrote files there, or is at it."""
    return (folder / SCRATCH).exists()


@contextmanager
def atomic_file(file: Path) -> Iterator[Path]:
    """A file to write to, which takes the place of `file` when all is written."""
    with errors_of_disk(file):
        if file.exists() and not file.is_file():  # a device or a pipe has no place to take
            yield file
            return
        target = file.resolve()
        target.parent.stat()  # an error where there is none: a lock would make it
        # of the same name each time, so that the next writer replaces what a killed one left
        part = target.with_name(f"{SCRATCH}-{crc32(os.fsencode(target.name)):08x}")
        with _lock(part):
            try:
                part.unlink(missing_ok=True)
                yield part
                _finish(part, target)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)


def check_writable(folder: Path) -> None:
    """Refuse an output folder that cannot be made or written, before any work is done."""
    with errors_of_disk(folder):
        nearest = next(
            one for one in (folder.absolute(), *folder.absolute().parents) if one.exists()
        )
    if not nearest.is_dir():
        raise OutputError(f"{folder}: {nearest} is a file, not a folder. Choose another folder.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise OutputError(f"{folder}: no permission to write in {nearest}. Choose another folder.")


def refuse_foreign(folder: Path, names: Iterable[str], called: str) -> None:
    """Refuse to write over files of a folder in which nothing shows that they are ours.

    Parameters
    ----------
    called : what is to be written, without an article
    """
    there = [name for name in names if (folder / name).exists()]
    if there and not is_interrupted(folder):
        raise OutputError(
            f"{plain(folder, 300)}: {listed(there)} there is of no {called} of FairRec's and would "
            "be overwritten. Choose another folder."
        )


@contextmanager
def errors_of_disk(where: Path, fix: str = "Choose another place.") -> Iterator[None]:
    """Errors of the disk in words that say where, and what to do."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        reason = plain(error.strerror or error, 200)
        raise OutputError(f"{plain(where, 300)}: cannot be written ({reason}). {fix}") from error


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
    fix = f"Name a folder with more room for scratch files: {spell('scratch', Blank('FOLDER'))}"
    with errors_of_disk(folder, fix), errors_of_polars():
        yield


def write_text(file: Path, text: str) -> None:
    """Write a text whole or not at all."""
    with atomic_file(file) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_table(table: pl.DataFrame, file: Path) -> None:
    """Write a table whole or not at all, as Parquet or, by its ending, CSV."""
    ending = file.suffix.lower()
    if ending not in (".parquet", ".pq", ".csv"):
        raise OutputError(f"{file}: is no Parquet or CSV file. Name it NAME.parquet or NAME.csv.")
    with errors_of_disk(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(file) as part:
        put_table(table, part, as_csv=ending == ".csv")


def put_table(
    table: pl.DataFrame | pl.LazyFrame,
    file: Path,
    compression_level: int | None = None,
    as_csv: bool = False,
    rows_together: int = ROWS_TOGETHER,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a table into a file that is not yet under its own name.

    Parameters
    ----------
    table : a lazy one is too large to be read at once
    rows_together : the size of row groups of Parquet
    metadata : kept in the footer of Parquet
    """
    import polars as pl

    kept = dict(metadata or {}) or None
    # opened here, because Polars takes no path that is not Unicode
    with file.open("wb") as stream, errors_of_polars():
        if isinstance(table, pl.LazyFrame):
            table.sink_parquet(stream, compression_level=compression_level, metadata=kept)
        elif as_csv:
            without_formulas(table).write_csv(stream)
        else:
            table.write_parquet(
                stream,
                compression_level=compression_level,
                row_group_size=rows_together,
                metadata=kept,
            )


_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]$"
"""A number, or a sign alone: what stands for no value in many tables."""


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before each text and name that a spreadsheet would run."""
    import polars as pl

    def quote(texts: pl.Series) -> pl.Series:
        is_run = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
        return ("'" + texts).zip_with(is_run.fill_null(False), texts).alias(texts.name)

    texts = table.select(pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String))
    safe = table.with_columns(map(quote, texts))
    safe.columns = quote(pl.Series(table.columns, dtype=pl.String)).to_list()
    return safe
