"""The files of a folder that has to stay, replaced one by one: all of them, or none.

First all old files go aside, the one that vouches for the others before the rest; then the new ones
come, that one last. The folder with the old ones says by its name how far it is, so that whoever
comes after a kill puts them back where not all of them were aside, and else goes on.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from fairrec.core.scratch import SUFFIX, leftovers, remove, synced

INSIDE = "fairrec"
_GOING, _GONE = "going", "gone"


def replace_files(part: Path, folder: Path, ours: set[str], last: str) -> None:
    """Put the files of a folder inside another one in the place of those there.

    Parameters
    ----------
    part : a scratch folder, inside
    ours : the names to be replaced, or to go where no new file has them; those of files in a
        folder below are `folder/name`
    last : the file that vouches for the others
    """
    going, gone = _sibling(part, _GOING), _sibling(part, _GONE)
    new = names_in(part)
    going.mkdir()
    try:
        for name in sorted(ours, key=lambda name: name != last):
            with suppress(FileNotFoundError):
                move(name, folder, going)
        going.rename(gone)
        _synced_with(folder, ours)
        for name in sorted(new, key=lambda name: name == last):
            move(name, part, folder)
        _synced_with(folder, new)
        drop_empty(folder, ours)
        # from here on it is scratch
        gone.rename(part / _GONE)
    except BaseException:
        for name in new - names_in(part):
            move(name, folder, part)
        _put_back(gone if gone.exists() else going, folder)
        drop_empty(folder, new)
        raise


def names_in(folder: Path, opened: Collection[str] | None = None) -> set[str]:
    """What lies in a folder, and instead of folders there what lies in them: `folder/name`.

    Parameters
    ----------
    opened : the folders that are looked into, by their names; None for all
    """
    names = set()
    for path in folder.iterdir():
        is_open = opened is None or path.name in opened
        if is_open and path.is_dir() and not path.is_symlink():
            names |= {f"{path.name}/{inner.name}" for inner in path.iterdir()}
        else:
            names.add(path.name)
    return names


def move(name: str, here: Path, there: Path) -> None:
    """Let a file of a folder, or of one below, have the same name in another."""
    (there / name).parent.mkdir(exist_ok=True)
    (here / name).rename(there / name)


def drop_empty(folder: Path, names: Collection[str]) -> None:
    """Remove the folders below that had files of these names, and have none now."""
    for below in {(folder / name).parent for name in names} - {folder}:
        with suppress(OSError):
            below.rmdir()


def is_unfinished(folder: Path) -> bool:
    """Whether a command was killed while it replaced files, or is at it."""
    return any(leftovers(folder, INSIDE, suffix) for suffix in (_GOING, _GONE))


def finish_files(folder: Path) -> None:
    """Bring to an end what a killed command began; nobody else may be at it."""
    for going in leftovers(folder, INSIDE, _GOING):
        _put_back(going, folder)
    for gone in leftovers(folder, INSIDE, _GONE):
        part = _sibling(gone, SUFFIX)
        if part.exists():
            for name in names_in(part):
                move(name, part, folder)
            drop_empty(folder, names_in(gone))
            gone.rename(part / _GONE)
            remove(part)
        else:
            _put_back(gone, folder)


def _put_back(aside: Path, folder: Path) -> None:
    names = names_in(aside)
    for name in names:
        move(name, aside, folder)
    remove(aside)
    _synced_with(folder, names)


def _synced_with(folder: Path, names: Collection[str]) -> None:
    """Have a folder on the disk, and those below that files of these names are in."""
    for place in {folder, *((folder / name).parent for name in names)}:
        if place.is_dir():
            synced(place)


def _sibling(path: Path, suffix: str) -> Path:
    """What goes with a file or folder on its way, by its name."""
    return path.with_suffix(f".{suffix}")
