"""Files and folders on their way: under a name of their own until they are whole."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

try:
    import fcntl
except ImportError:  # not on Windows: there, what a killed command left is not swept up
    fcntl = None  # type: ignore[assignment]

SUFFIX = "writing"


@contextmanager
def scratch(folder: Path, name: str, is_folder: bool) -> Iterator[Path]:
    """A new, empty file or folder for what will be `name`; gone in the end if it was not moved.

    Nobody else can have its name. It is held while it is in use, so that the next command can tell
    what a killed one left behind from what another one is still writing.
    """
    sweep(folder, name)
    part = folder / f".{name}.{secrets.token_hex(4)}.{SUFFIX}"
    if is_folder:
        part.mkdir()
    else:
        part.open("xb").close()
    with held(part):
        try:
            yield part
        finally:
            remove(part)


def sweep(folder: Path, name: str) -> None:
    """Remove what commands that were killed left of `name`."""
    for left in leftovers(folder, name, SUFFIX):
        with held(left) as hold:
            if hold == "ours":
                remove(left)


def leftovers(folder: Path, name: str, suffix: str) -> list[Path]:
    """Files and folders on their way to become `name`, or on their way out."""
    pattern = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{8}}\.{suffix}")
    try:
        return sorted(path for path in folder.iterdir() if pattern.fullmatch(path.name))
    except OSError:  # nothing to sweep where nothing can be listed
        return []


def remove(path: Path) -> None:
    """Remove a file or folder; what cannot be removed stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def synced(path: Path) -> None:
    """Have a file or folder on the disk, not only on its way there."""
    is_folder = path.is_dir()
    try:
        opened = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
    except OSError:
        # some systems know no such thing for folders, and not every folder may be read
        if not is_folder:
            raise


@contextmanager
def held(path: Path) -> Iterator[Literal["ours", "theirs", "unknown"]]:
    """Hold a file or folder, whatever it comes to be called, and say whose it was.

    Theirs: another process holds it. Unknown: there are no locks here.
    """
    if fcntl is None:
        yield "unknown"
        return
    opened = None
    hold: Literal["ours", "theirs", "unknown"] = "ours"
    try:
        opened = os.open(path, os.O_RDONLY)
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        hold = "theirs"
    except OSError:
        hold = "unknown"
    try:
        yield hold
    finally:
        if opened is not None:
            os.close(opened)
