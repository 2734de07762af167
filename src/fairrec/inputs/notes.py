"""What the reader of a result should know of a table, whether or not it was read in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from operator import add
from typing import Any

CHECK_FIRST = "check: "
"""Begins a note that is read before any figure, because it says that figures may be wrong."""
N = "\0"
"""Where a number stands in the text of a note."""


def _is_first_positive(*n: float) -> bool:
    return n[0] > 0


@dataclass(frozen=True)
class Note:
    """A note with numbers; those of the parts of a table add up to that of the table.

    Parameters
    ----------
    text : with `N` in the place of each number; the same in all parts
    n : the numbers in the text, then those that only `applies` needs
    combine : makes one number from those of two parts; a tuple has a function for each
    applies : whether there is anything to note; by default where the first number is above 0
    is_lower_bound : of numbers that parts share, such as those of items, the largest is shown

    >>> note = Note(f"{N} of {N} rows repeat a user", (3, 1000))
    >>> str(note + note)
    '6 of 2,000 rows repeat a user'
    >>> items = Note(f"{N} items have no category", (3,), max, is_lower_bound=True)
    >>> str(items), str(items + items)
    ('3 items have no category', '3 or more items have no category')
    """

    text: str
    n: tuple[float, ...]
    combine: Callable[[Any, Any], Any] | tuple[Callable[[Any, Any], Any], ...] = add
    applies: Callable[..., bool] = _is_first_positive
    is_lower_bound: bool = False
    n_parts: int = 1

    def __add__(self, other: Note) -> Note:
        combine = self.combine if isinstance(self.combine, tuple) else (self.combine,) * len(self.n)
        pairs = zip(combine, self.n, other.n, strict=True)
        n = tuple(function(one, another) for function, one, another in pairs)
        return replace(self, n=n, n_parts=self.n_parts + other.n_parts)

    def __str__(self) -> str:
        if not self.applies(*self.n):
            return ""
        more = " or more" if self.is_lower_bound and self.n_parts > 1 else ""
        text = self.text
        for n in self.n:
            number = f"{n:,}" if isinstance(n, int) else f"{n:g}"
            text = text.replace(N, f"{number}{more}", 1)
        return text


Notes = tuple[Note | str, ...]


def note_items(text: str, *n: int) -> Note:
    """A note with numbers of items, which may be in several parts."""
    return Note(text, n, max, is_lower_bound=True)


def added(one: Iterable[Note | str], other: Iterable[Note | str]) -> Notes:
    """The notes of parts: those with the same text as one."""
    sums: dict[str, Note | str] = {}
    for note in (*one, *other):
        key = note if isinstance(note, str) else note.text
        before = sums.get(key)
        both = isinstance(note, Note) and isinstance(before, Note)
        sums[key] = before + note if both else note  # type: ignore[operator]
    return tuple(sums.values())


def in_words(notes: Iterable[Note | str]) -> tuple[str, ...]:
    """The text of all notes that apply."""
    return tuple(text for note in notes if (text := str(note)))
