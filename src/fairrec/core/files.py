"""Reading files: their checksums, and errors in words."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fairrec.core.errors import InputError, is_of_library, plain


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
    except (InputError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {*names} <= content.keys()
