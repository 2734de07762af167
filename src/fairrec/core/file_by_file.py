"""The files of a folder that has to stay, replaced one by one: all of them, or none.

First all old files go aside, the one that vouches for the others before the rest; then the new ones
come, that one last. The folder with the old ones says by its name how far it is, so that whoever
comes after a kill puts them back where not all of them were aside, and else goes on.
"""

from __future__ import annotations

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
    ours : the names to be replaced, or to go where no new file has them
    last : the file that vouches for the others
    """
    going, gone = _sibling(part, _GOING), _sibling(part, _GONE)
    new = {file.name for file in part.iterdir()}
    going.mkdir()
    try:
        for name in sorted(ours, key=lambda name: name != last):
            with suppress(FileNotFoundError):
                (folder / name).rename(going / name)
        going.rename(gone)
        synced(folder)
        for name in sorted(new, key=lambda name: name == last):
            (part / name).rename(folder / name)
        synced(folder)
        # from here on it is scratch
        gone.rename(part / _GONE)
    except BaseException:
        for name in new - {file.name for file in part.iterdir()}:
            (folder / name).rename(part / name)
        _put_back(gone if gone.exists() else going, folder)
        raise


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
            for file in part.iterdir():
                file.rename(folder / file.name)
            gone.rename(part / _GONE)
            remove(part)
        else:
            _put_back(gone, folder)


def _put_back(aside: Path, folder: Path) -> None:
    for file in aside.iterdir():
        file.rename(folder / file.name)
    aside.rmdir()
    synced(folder)


def _sibling(path: Path, suffix: str) -> Path:
    """What goes with a file or folder on its way, by its name."""
    return path.with_suffix(f".{suffix}")
