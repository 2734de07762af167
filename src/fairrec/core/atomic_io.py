"""Files and folders that are written whole or not at all.

New files are made in a scratch folder inside the folder they are for, `.writing-<random>`, with a
file beside it that is locked while it is in use: what a killed command left has no lock, and the
next writer removes it. Then they take the places of the old ones, one writer at a time: the file
that vouches for the others goes first and comes last, so that a folder in which a command was
stopped has no such file.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fairrec.core.errors import OutputError, is_panic, listed, plain
from fairrec.core.options import Blank, spell

if TYPE_CHECKING:
    import polars as pl
    from filelock import BaseFileLock

ROWS_TOGETHER = 1 << 18
"""Rows of a row group: one number, so that bytes do not tell how a table was put together."""
PATIENCE = 60.0
"""Seconds to wait for another writer."""
SCRATCH = ".writing-"
LOCK = ".writing.lock"


@contextmanager
def atomic_folder(folder: Path, owned: Sequence[str]) -> Iterator[Path]:
    """An empty folder to fill, whose files replace those of `folder` once all are written.

    A new file has the rights of the old one of its name.

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
            with scratch(folder) as part:
                yield part
                with _lock(folder / LOCK):
                    _replace(part, folder, owned)
        finally:
            if is_new:
                with suppress(OSError):  # it stays where there is something in it
                    folder.rmdir()


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
    with suppress(FileNotFoundError):
        new.chmod(stat.S_IMODE(old.stat().st_mode))


def is_interrupted(folder: Path) -> bool:
    """Whether a command was killed while it wrote files there, or is at it."""
    return any(folder.glob(f"{SCRATCH}*{LOCK}"))


@contextmanager
def atomic_file(file: Path) -> Iterator[Path]:
    """A file to write to, which takes the place of `file` when all is written.

    Whatever happens, there is the old file or the new one, never half of one. A new file has the
    rights of the old one.
    """
    with errors_of_disk(file):
        # a device or a pipe has no place to take
        if file.exists() and not file.is_file() and not file.is_dir():
            yield file
            return
        target = Path(os.path.realpath(file))
        if target.is_dir():
            raise IsADirectoryError(f"{target.name} is a folder")
        with scratch(target.parent) as folder:
            part = folder / "file"
            yield part
            _finish(part, target)
            part.replace(target)


@contextmanager
def scratch(place: Path) -> Iterator[Path]:
    """A new, empty folder in another one, which is removed in the end."""
    place.stat()  # an error where there is none: a lock would make it
    _sweep(place)
    home = place / f"{SCRATCH}{secrets.token_hex(8)}"
    with _lock(home.with_name(home.name + LOCK)):
        home.mkdir(mode=0o700)
        try:
            yield home
        finally:
            shutil.rmtree(home, ignore_errors=True)


def _sweep(place: Path) -> None:
    """Remove scratch folders that commands left which were killed."""
    for file in place.glob(f"{SCRATCH}*{LOCK}"):
        # in use, or not ours to remove
        with suppress(OutputError, OSError), _lock(file, patience=0):
            shutil.rmtree(file.with_name(file.name.removesuffix(LOCK)), ignore_errors=True)


@contextmanager
def _lock(file: Path, patience: float | None = None) -> Iterator[None]:
    from filelock import FileLock, Timeout

    timeout = PATIENCE if patience is None else patience
    lock: BaseFileLock = FileLock(file, timeout=timeout, poll_interval=0.01, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise OutputError(
            f"{file.parent}: another command is writing there. Wait for it, or choose another "
            "folder."
        ) from error
    try:
        yield
    finally:
        # while it is held: who waits for this file sees that it is gone, and makes another one
        with suppress(OSError):
            file.unlink()
        lock.release()


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


def refuse_foreign(folder: Path, names: Iterable[str], called: str) -> None:
    """Refuse to write over files of a folder in which nothing tells that they are ours.

    Parameters
    ----------
    called : what is to be written, without an article
    """
    there = [name for name in names if os.path.lexists(folder / name)]
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
    with atomic_file(file) as part:
        as_csv = file.suffix.lower() == ".csv"
        put_table(table, part, as_csv=as_csv, rows_together=rows_together)


def put_table(
    table: pl.DataFrame,
    file: Path,
    compression_level: int | None = None,
    as_csv: bool = False,
    rows_together: int = ROWS_TOGETHER,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a table into a file that is not yet under its own name.

    Parameters
    ----------
    metadata : kept in the footer of Parquet
    """
    # opened here, because Polars takes no path that is not Unicode
    with file.open("wb") as stream, errors_of_polars():
        if as_csv:
            without_formulas(table).write_csv(stream)
        else:
            table.write_parquet(
                stream,
                compression_level=compression_level,
                row_group_size=rows_together,
                metadata=dict(metadata) if metadata else None,
            )


def sink_table(table: pl.LazyFrame, file: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write a table that is too large to be read at once, as `put_table` does."""
    with file.open("wb") as stream, errors_of_polars():
        table.sink_parquet(
            stream,
            compression_level=1,
            maintain_order=True,
            metadata=dict(metadata) if metadata else None,
        )


_FORMULA = r"^[=+\-@\t\r]"
_NO_FORMULA = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]$"
"""A number, or a sign alone: what stands for no value in many tables."""
_AS_TEXT = "'"


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before each text and name that would be run; numbers stay.

    A spreadsheet shows such a cell as the text after the apostrophe.
    """
    import polars as pl

    texts = table.select(pl.col(pl.String, pl.Categorical, pl.Enum)).columns
    safe = table.with_columns(map(_quoted, (table[name].cast(pl.String) for name in texts)))
    safe.columns = _quoted(pl.Series(table.columns, dtype=pl.String)).to_list()
    return safe


def _quoted(texts: pl.Series) -> pl.Series:
    is_run = texts.str.contains(_FORMULA) & ~texts.str.contains(_NO_FORMULA)
    return (_AS_TEXT + texts).zip_with(is_run.fill_null(False), texts).alias(texts.name)
