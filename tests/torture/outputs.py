"""Whether an output is wholly old or wholly new."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SCRATCH = re.compile(r"\..*\.[0-9a-f]{8}\.(writing|old|going|gone)")
UNFINISHED = re.compile(r"training[.-].*")
"""What a training that was stopped goes on from; a run beside it is whole."""
DATE = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?")
Files = dict[str, bytes]


def files_below(path: Path) -> Files:
    """A file, or all files of a folder, by their paths; dates and what is on its way left out."""

    def is_output(file: Path) -> bool:
        on_its_way = UNFINISHED.fullmatch(file.name) or any(map(SCRATCH.fullmatch, file.parts))
        return file.is_file() and not on_its_way

    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return {
        str(file.relative_to(path.parent)): DATE.sub(b"DATE", file.read_bytes())
        for file in files
        if is_output(file)
    }


def scratch_below(folder: Path) -> list[str]:
    """What is on its way, or was left."""
    return [path.name for path in folder.rglob(".*") if SCRATCH.fullmatch(path.name)]


@dataclass(frozen=True)
class Versions:
    """An output before and after a command.

    Parameters
    ----------
    new, again : of two runs: what differs between them, as dates do, is known by its end alone
    """

    old: Files
    new: Files
    again: Files

    def of(self, found: Files) -> str:
        """Which one an output is: old, new or mixed."""
        if found == self.old:
            return "old"
        return "mixed" if self.odd(found) else "new"

    def odd(self, found: Files) -> list[str]:
        """Names that are not there, should not be, or have not the new content."""
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
        is_whole = content[-8:] == new[-8:] and abs(len(content) - len(new)) < 500
        return is_whole and content != self.old.get(name)
