"""Files and folders on their way: under a name of their own until they are whole."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeAlias

from fairrec.core.errors import OutputError

try:
    import fcntl
# not on Windows: there, what a killed command left is not swept up
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

SUFFIX = "writing"
LONGEST_NAME = 100
PATIENCE = 60.0
_PAUSE = 0.01
_FAILING = (errno.EIO, errno.ENOSPC, errno.EDQUOT)

Hold: TypeAlias = Literal["ours", "theirs", "gone", "unknown"]


@contextmanager
def scratch(folder: Path, name: str, is_folder: bool) -> Iterator[Path]:
    """A new, empty file or folder for what will be `name`; gone in the end if it was not moved.

    Nobody else can have its name. It is held while it is in use, so that the next command can tell
    what a killed one left behind from what another one is still writing.
    """
    sweep(folder, name)
    while True:
        part = folder / f".{_stem(name)}.{secrets.token_hex(4)}.{SUFFIX}"
        if is_folder:
            part.mkdir()
        else:
            part.open("xb").close()
        with held(part) as hold:
            if hold in ("theirs", "gone"):  # swept up by another command before we held it
                continue
            try:
                yield part
                return
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
    pattern = re.compile(rf"\.{re.escape(_stem(name))}\.[0-9a-f]{{8}}\.{suffix}")
    try:
        return sorted(path for path in folder.iterdir() if pattern.fullmatch(path.name))
    except OSError:  # nothing to sweep where nothing can be listed
        return []


def _stem(name: str) -> str:
    """The name, or a short one that stands for it where more would not fit."""
    as_bytes = os.fsencode(name)
    return name if len(as_bytes) <= LONGEST_NAME else hashlib.sha256(as_bytes).hexdigest()[:32]


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
        # Windows wants to be allowed to write; elsewhere a file may be read-only
        opened = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
    except OSError as error:
        # some systems know no such thing for folders, and not every folder may be read
        if not is_folder or error.errno in _FAILING:
            raise


@contextmanager
def held(path: Path) -> Iterator[Hold]:
    """Hold a file or folder, whatever it comes to be called, and say whose it was.

    Theirs: another process holds it. Gone: nothing is there. Unknown: it cannot be held here.
    """
    hold, opened = _hold(path)
    try:
        yield hold
    finally:
        if opened is not None:
            os.close(opened)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Have an output folder to oneself, be it there or not; others wait meanwhile.

    Its parent is held, because a folder that is not there or is replaced cannot be, and the folder
    itself, because another writer may know it below another parent (a volume that is mounted
    twice), or may not read the parent. Where a system cannot hold folders, nobody waits; on a
    network drive, only commands of one machine wait for each other.
    """
    until = time.monotonic() + PATIENCE
    with ExitStack() as holds:
        for place in (folder.parent, folder):
            while True:
                hold, opened = _hold(place)
                if opened is not None:
                    holds.callback(os.close, opened)
                if hold != "theirs":
                    break
                if time.monotonic() > until:
                    raise OutputError(
                        f"{folder}: another command{_holder(place)} is writing there and does not "
                        "come to an end. Wait for it, or choose another folder."
                    )
                time.sleep(_PAUSE)
        yield


@contextmanager
def sole(file: Path, doing: str) -> Iterator[None]:
    """Be the only one who does something that takes long; the second one is refused at once.

    Parameters
    ----------
    file : is there meanwhile
    doing : what the first one does, for the second one
    """
    while True:
        file.touch()
        with held(file) as hold:
            if hold == "gone":  # another one has just come to its end, and taken it away
                continue
            if hold == "theirs":
                raise OutputError(
                    f"{file.parent}: another command{_holder(file)} {doing} there. Wait for it, or "
                    "choose another folder."
                )
            ours = file.stat()
            try:
                yield
                return
            finally:
                # where the folder was exchanged meanwhile, a file of this name is the next one's
                with suppress(FileNotFoundError):
                    if os.path.samestat(ours, file.stat()):
                        remove(file)


def _holder(path: Path) -> str:
    """Which process holds a folder, in words, where the system tells."""
    with suppress(OSError, ValueError, IndexError):
        there = path.stat()
        # such as `1: FLOCK  ADVISORY  WRITE 4711 08:01:131074 0 EOF`, devices in base 16
        name = f"{os.major(there.st_dev):02x}:{os.minor(there.st_dev):02x}:{there.st_ino}"
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[5] == name:
                return f" (process {int(words[4])})"
    return ""


def _hold(path: Path) -> tuple[Hold, int | None]:
    """Try to hold what is under a name, and say whose it was; it is ours until it is closed."""
    if fcntl is None:
        return "unknown", None
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return "gone", None
    except OSError:
        return "unknown", None
    hold: Hold
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # while we waited, something else may have got the name
        if os.path.samestat(os.fstat(opened), path.stat()):
            return "ours", opened
        hold = "theirs"
    except BlockingIOError:
        hold = "theirs"
    except FileNotFoundError:
        hold = "gone"
    except OSError:
        hold = "unknown"
    os.close(opened)
    return hold, None
