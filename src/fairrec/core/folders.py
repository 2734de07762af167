"""Output folders that are there whole or not at all: a finished sibling takes the place of the old.

The files of a result belong together: numbers of one run beside the page of another would be
worse than nothing. So they are made in a folder beside the one they are for, which then takes its
name: in one step where nothing was there, else by exchanging the two folders. Files of the old
folder that are not the writer's own are in both before (as hard links), so they never vanish.

An old folder that cannot be exchanged is kept, and its files are replaced one by one: a mount
point, the folder we are in, one with subfolders of others or with files that cannot be linked,
one of another owner, one whose parent cannot be written (`file_by_file`).

What a killed command left half done is brought to an end by whoever reads the folder or writes to
it next.

Writers take turns: each has the folder alone while it makes its place there and while it replaces
the old files, not while it writes the new ones.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from fairrec.core.errors import InputError
from fairrec.core.file_by_file import (
    INSIDE,
    drop_empty,
    finish_files,
    is_unfinished,
    move,
    names_in,
    replace_files,
)
from fairrec.core.files import check_writable, errors_of_disk
from fairrec.core.scratch import SUFFIX, alone, leftovers, remove, scratch, sweep, synced

ASIDE = "old"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextmanager
def whole_folder(folder: Path, owned: Sequence[str]) -> Iterator[Path]:
    """An empty folder to fill, whose files are those of `folder` once all are written.

    Who may read an old file may read the new one of its name, and nobody else; the group of a
    shared folder is that of its files.

    Parameters
    ----------
    owned : names that are the writer's own, so that older ones go even where no new one is made;
        all others stay. Of files in a folder below it is `folder/name`, and that folder is to be
        made. The last one is the file that vouches for the others.
    """
    check_writable(folder)
    with errors_of_disk(folder), ExitStack() as stack:
        target = Path(os.path.realpath(folder))
        target.parent.mkdir(parents=True, exist_ok=True)
        below = _folders_of(owned)
        with alone(target):
            for place in (target, *(target / name for name in below)):
                _finish(place)
            part = stack.enter_context(_place_for(target, below))
        yield part
        _all_synced(part)
        with alone(target):
            _replace(part, target, {*owned, *names_in(part)}, owned[-1])
        synced(target.parent)


def settle(folder: Path) -> None:
    """Bring to an end what a killed command began to replace, also in the folder around it."""
    folder = Path(os.path.realpath(folder))
    for place in (folder.parent, folder):
        is_out = not os.path.lexists(place) and leftovers(place.parent, place.name, ASIDE)
        if is_out or is_unfinished(place):
            with alone(place):
                _finish(place)


def _folders_of(names: Collection[str]) -> set[str]:
    """The folders below in which files of these names are."""
    return {name.partition("/")[0] for name in names if "/" in name}


def _finish(folder: Path) -> None:
    _finish_exchange(folder)
    try:
        finish_files(folder)
    except OSError as error:
        raise InputError(
            f"{folder}: a command was stopped while it replaced the files there, and they cannot "
            f"be put right ({error.strerror or error}). Give that command again."
        ) from error


def _finish_exchange(folder: Path) -> None:
    """Give a folder its name that was taken away in the first of two renames.

    The new one, which is whole, takes it; should that one be gone, the old one gets it back.
    """
    for old in leftovers(folder.parent, folder.name, ASIDE):
        if folder.exists():
            return
        new = old.with_name(f"{old.name.removesuffix(ASIDE)}{SUFFIX}")
        found = new if new.exists() else old
        try:
            found.rename(folder)
        except OSError as error:
            raise InputError(
                f"{folder}: a command was stopped while it replaced this folder, and it cannot be "
                f"put back ({error.strerror or error}). Rename {found} to {folder.name}."
            ) from error


@contextmanager
def _place_for(folder: Path, below: Collection[str]) -> Iterator[Path]:
    """An empty folder, beside the one it is for, or else inside."""
    for place in (folder, *(folder / name for name in below)):
        sweep(place.parent, place.name)
        sweep(place, INSIDE)
    if _may_be_exchanged(folder, below):
        with scratch(folder.parent, folder.name, is_folder=True) as part:
            if not folder.exists() or _becomes_alike(part, folder):
                yield part
                return
    with scratch(folder, INSIDE, is_folder=True) as part:
        _close_to_others(part)
        yield part


def _may_be_exchanged(folder: Path, below: Collection[str]) -> bool:
    """Whether a sibling can be made, and nothing is known that stands against an exchange."""
    if not folder.exists():
        return True
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        return False
    paths = [folder / name for name in names_in(folder, below)]
    has_folders = any(path.is_dir() and not path.is_symlink() for path in paths)
    places = [folder, *(folder / name for name in below if (folder / name).exists())]
    has_to_stay = any(place.samefile(os.curdir) or place.is_mount() for place in places)
    return not (has_folders or has_to_stay)


def _becomes_alike(part: Path, folder: Path) -> bool:
    """Let new files have the group they would have in a folder, if that is possible."""
    try:
        _be_alike(part, folder)
    except OSError:
        return False
    _close_to_others(part)
    return True


def _close_to_others(folder: Path) -> None:
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) & ~(stat.S_IRWXG | stat.S_IRWXO))


def _all_synced(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        synced(path)


def _replace(part: Path, folder: Path, ours: set[str], last: str) -> None:
    """Put finished files in the place of those of a folder."""
    for name in sorted(ours):
        if (folder / name).is_dir():
            raise IsADirectoryError(f"{name} is a folder there")
    for name in sorted(_folders_of(ours)):
        if os.path.lexists(folder / name) and not (folder / name).is_dir():
            raise NotADirectoryError(f"{name} is a file there")
    for name in names_in(part):
        if (folder / name).is_file():
            (part / name).chmod(stat.S_IMODE((folder / name).stat().st_mode))
    if part.parent == folder or not _takes_place(part, folder, ours):
        _file_by_file(part, folder, ours, last)
    for old in leftovers(folder.parent, folder.name, ASIDE):
        with suppress(OSError):
            _give_back(old, folder, ours)


def _takes_place(part: Path, folder: Path, ours: set[str]) -> bool:
    """Let a finished folder take the place of another; False where the old one has to stay."""
    if not folder.exists():
        part.rename(folder)
        return True
    try:
        _be_alike(part, folder)
        _carry_over(folder, part, ours)
        old = _exchange(part, folder)
    except OSError:
        for name in names_in(part, _folders_of(ours)) - ours:
            (part / name).unlink()
        return False
    # what came there meanwhile
    for name in names_in(old, _folders_of(ours)) - ours:
        if not _is_same(old / name, folder / name):
            (folder / name).parent.mkdir(exist_ok=True)
            (old / name).replace(folder / name)
    remove(old)
    return True


def _give_back(old: Path, folder: Path, ours: set[str]) -> None:
    """Empty the folder that an interrupted exchange left: all that is not ours goes where it was.

    What has another file of its name there stays.
    """
    for name in names_in(old, _folders_of(ours)) - ours:
        if not os.path.lexists(folder / name):
            move(name, old, folder)
        elif _is_same(old / name, folder / name):
            (old / name).unlink()
    for name in ours:
        remove(old / name)
    drop_empty(old, ours)
    with suppress(OSError):
        old.rmdir()


def _is_same(one: Path, other: Path) -> bool:
    """Whether two names are those of one file."""
    return os.path.lexists(other) and os.path.samestat(one.lstat(), other.lstat())


def _be_alike(part: Path, folder: Path) -> None:
    """Give a folder the owner and the rights of another."""
    mine, theirs = part.stat(), folder.stat()
    if (mine.st_uid, mine.st_gid) != (theirs.st_uid, theirs.st_gid):
        os.chown(part, theirs.st_uid, theirs.st_gid)
    shutil.copystat(folder, part)
    os.utime(part)


def _carry_over(old: Path, new: Path, ours: set[str]) -> None:
    """Have the files that are not ours in both folders, and the folders of ours with one right."""
    below = _folders_of(ours)
    for name in names_in(old, below) - ours:
        (new / name).parent.mkdir(exist_ok=True)
        os.link(old / name, new / name, follow_symlinks=False)
    for name in below:
        if (old / name).is_dir() and (new / name).is_dir():
            _be_alike(new / name, old / name)


def _exchange(part: Path, folder: Path) -> Path:
    """Exchange two folders, and say where the old one is now."""
    with suppress(OSError, AttributeError, TypeError):  # a system that cannot
        _exchange_at_once(part, folder)
        return part
    aside = part.with_name(f"{part.name.removesuffix(SUFFIX)}{ASIDE}")
    folder.rename(aside)
    try:
        part.rename(folder)
    except BaseException:
        aside.rename(folder)
        raise
    return aside


def _exchange_at_once(part: Path, folder: Path) -> None:
    """Exchange two names in one step, where the system can do that."""
    rename = ctypes.CDLL(None, use_errno=True).renameat2
    paths = (_AT_FDCWD, os.fsencode(part), _AT_FDCWD, os.fsencode(folder))
    if rename(*paths, ctypes.c_uint(_RENAME_EXCHANGE)) != 0:
        raise OSError(ctypes.get_errno(), "no exchange")


def _file_by_file(part: Path, folder: Path, ours: set[str], last: str) -> None:
    """Replace the files of a folder that has to stay."""
    if part.parent != folder:
        with scratch(folder, INSIDE, is_folder=True) as inside:
            # a mount point is on another file system, where a file cannot be renamed to
            for file in part.iterdir():
                shutil.move(file, inside / file.name)
            _all_synced(inside)
            _file_by_file(inside, folder, ours, last)
        return
    replace_files(part, folder, ours, last)
