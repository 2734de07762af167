"""Whether an output is wholly old or wholly new."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SCRATCH = re.compile(r"\..*\.[0-9a-f]{8}\.(writing|old|going|gone)")
UNFINISHED = re.compile(r"training[.-].*")
"""What a training that was stopped goes on from; a run beside it is whole."""
DATE = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?")
NUMBER = re.compile(rb"[0-9.]+")
Files = dict[str, bytes]


def files_below(path: Path, apart: Path | None = None) -> Files:
    """A file, or all files of a folder, by their paths; dates and what is on its way left out.

    Parameters
    ----------
    apart : a folder below that is another output
    """

    def is_output(file: Path) -> bool:
        on_its_way = UNFINISHED.fullmatch(file.name) or any(map(SCRATCH.fullmatch, file.parts))
        is_apart = apart is not None and file.is_relative_to(apart)
        return file.is_file() and not (on_its_way or is_apart)

    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return {
        str(file.relative_to(path.parent)): DATE.sub(b"DATE", file.read_bytes())
        for file in files
        if is_output(file)
    }


def scratch_below(folder: Path) -> list[str]:
    """What is on its way, or was left."""
    return [path.name for path in folder.rglob(".*") if SCRATCH.fullmatch(path.name)]


class Parts(dict[str, Files]):
    """The files of an output: of one, or of each of those that are whole by themselves."""

    @classmethod
    def at(cls, out: Path, apart: str) -> Parts:
        """What is there now."""
        below = out / apart if apart else None
        parts = cls({"": files_below(out, below)})
        return parts if below is None else cls({**parts, apart: files_below(below)})


@dataclass(frozen=True)
class Versions:
    """An output before and after a command.

    Parameters
    ----------
    new, again : of two runs: what differs between them, as dates do, is known by its end alone
    """

    old: Parts
    new: Parts
    again: Parts

    def of(self, found: Parts) -> str:
        """Which one an output is: old, new, mixed, or one part of it new and another one old."""
        states = {self._part(name).of(files) for name, files in found.items()}
        if "mixed" in states:
            return "mixed"
        return states.pop() if len(states) == 1 else "between"

    def odd(self, found: Parts) -> list[str]:
        """Names that are not there, should not be, or have not the new content."""
        return [odd for name, files in found.items() for odd in self._part(name).odd(files)]

    def _part(self, name: str) -> _PartVersions:
        return _PartVersions(self.old[name], self.new[name], self.again[name])


@dataclass(frozen=True)
class _PartVersions:
    """One part before and after."""

    old: Files
    new: Files
    again: Files

    def of(self, found: Files) -> str:
        if found == self.old:
            return "old"
        return "mixed" if self.odd(found) else "new"

    def odd(self, found: Files) -> list[str]:
        unlike = {
            name
            for name, text in found.items()
            if name in self.new and not self._is_new(name, text)
        }
        return sorted(unlike | (found.keys() ^ self.new.keys()))

    def _is_new(self, name: str, content: bytes) -> bool:
        new = self.new[name]
        if new == self.again[name]:
            return content == new
        # a table may end with how long something took
        ends = (NUMBER.sub(b"0", text[-200:])[-8:] for text in (content, new))
        is_whole = len({*ends}) == 1 and abs(len(content) - len(new)) < 500
        return is_whole and content != self.old.get(name)
