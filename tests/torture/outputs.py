"""Whether an output is wholly old or wholly new."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SCRATCH = re.compile(r"\..*\.[0-9a-f]{8}\.(writing|old|going|gone)")
UNFINISHED = re.compile(r"training[.-].*")
"""What a training that was stopped goes on from; a run beside it is whole."""
DATE = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?")
SECONDS = re.compile(rb'("seconds\w*": )[-+.e\d]+')
TIMED = re.compile(rb"ms_per_.*")
"""Columns of how long something took."""
Files = dict[str, bytes]


def files_below(path: Path, apart: Path | None = None) -> Files:
    """A file, or all files of a folder, by their paths; what is on its way left out.

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
        str(file.relative_to(path.parent)): without_times(file.name, file.read_bytes())
        for file in files
        if is_output(file)
    }


def without_times(name: str, content: bytes) -> bytes:
    """A file without what differs from one run to the next: dates, and how long something took."""
    content = DATE.sub(b"DATE", content)
    if name.endswith(".json"):
        return SECONDS.sub(rb"\1SECONDS", content)
    names, *rows = content.split(b"\n")
    timed = [at for at, one in enumerate(names.split(b",")) if TIMED.fullmatch(one)]
    if not (name.endswith(".csv") and timed):
        return content
    return b"\n".join((names, *(_without(row, timed) for row in rows)))


def _without(row: bytes, columns: list[int]) -> bytes:
    return b",".join(
        b"TIME" if at in columns and field else field for at, field in enumerate(row.split(b","))
    )


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
    """An output before and after a command."""

    old: Parts
    new: Parts

    def of(self, found: Parts) -> str:
        """Which one an output is: old, new, mixed, or one part of it new and another one old."""
        states = {self._of_part(name, files) for name, files in found.items()}
        if "mixed" in states:
            return "mixed"
        return states.pop() if len(states) == 1 else "between"

    def _of_part(self, name: str, files: Files) -> str:
        if files == self.old[name]:
            return "old"
        return "new" if files == self.new[name] else "mixed"

    def odd(self, found: Parts) -> list[str]:
        """Names of files that are not there, should not be, or have not the new content."""
        return sorted(
            file
            for name, files in found.items()
            for file in files.keys() | self.new[name].keys()
            if files.get(file) != self.new[name].get(file)
        )
