"""Reading files: their checksums, our own JSON and Parquet, and errors in words."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from fairrec.core.errors import InputError, is_of_library, listed, plain

if TYPE_CHECKING:
    import polars as pl

Content = TypeVar("Content", bound=BaseModel)


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


def file_bytes(file: Path, fix: str = "Check the path.") -> bytes:
    """The content of a file."""
    with open_file(file, fix) as stream, errors_of_reading(file, fix):
        return stream.read()


@contextmanager
def errors_of_reading(file: Path, fix: str) -> Iterator[None]:
    """Errors of the disk, of names that no file can have, and of damaged tables, in words."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        # a path with a zero byte is a ValueError, and some damage makes Polars panic
        if not (isinstance(error, OSError | ValueError) or is_of_library(error)):
            raise
        reason = plain(getattr(error, "strerror", None) or error, 200)
        raise InputError(f"{plain(file, 300)}: cannot be read ({reason}). {fix}") from error


def is_json_with(file: Path, *names: str) -> bool:
    """Whether a file holds a JSON object with these names, by which one of ours is known."""
    try:
        content = json.loads(file_bytes(file))
    except (InputError, ValueError):
        return False
    return isinstance(content, dict) and {*names} <= content.keys()


def load_json(
    path: Path, content: type[Content], called: str, fix: str = "", again: str = "Write it again."
) -> Content:
    """The content of a file that FairRec wrote.

    Parameters
    ----------
    called : what the file is, without an article
    fix : what to do where it cannot be read
    again : what to do where it holds something else
    """
    data = file_bytes(path, fix=fix or "Check the path.")
    try:
        return content.model_validate_json(data)
    except ValidationError as error:
        reason = describe_first_error(error)
    raise InputError(
        f"{plain(path, 300)}: is no {called} of this version of FairRec ({reason}). {again}"
    )


def describe_first_error(error: ValidationError) -> str:
    """Where the first of the errors is, and how many more there are."""
    first, *others = error.errors(include_url=False, include_context=False, include_input=False)
    place, message = plain(".".join(map(str, first["loc"]))), plain(first["msg"], 200)
    words = f"{place}: {message}" if place else message
    return f"{words}; {len(others):,} more" if others else words


def read_parquet(
    file: Path, fix: str, columns: Collection[str] = (), key: str | None = None
) -> pl.DataFrame:
    """The table in a file that FairRec wrote.

    Parameters
    ----------
    fix : what to do where it is damaged
    columns : those it must have
    key : the column whose values are there once each
    """
    import polars as pl

    # opened here, because Polars takes no path that is not Unicode
    with open_file(file, fix) as stream, errors_of_reading(file, fix):
        table = pl.read_parquet(stream)
    if missing := [name for name in columns if name not in table.columns]:
        raise InputError(f"{plain(file, 300)}: has no column {listed(missing)}. {fix}")
    if key is not None and (table[key].null_count() or table[key].n_unique() < table.height):
        raise InputError(f"{plain(file, 300)}: {key} is empty or there twice in some rows. {fix}")
    return table
