"""What the reader of a result should know of a table, whether or not it was read in parts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import MISSING, dataclass, field, fields, replace
from operator import add
from typing import Any, Self

CHECK_FIRST = "check: "
"""Begins a note that is read before any figure, because it says that figures may be wrong."""
_COMBINE = "combine"


def over_parts(combine: Callable[[Any, Any], Any], default: Any = MISSING) -> Any:
    """A field that each part of a table has for itself, and what it is in two of them together."""
    return field(default=default, metadata={_COMBINE: combine})


@dataclass(frozen=True)
class Note:
    """A note about a table; those of its parts add up to that of the table.

    What is wrong with one part may be right in all of them together, so a part says what it has
    seen, and `str` of the sum what is to be told of it: nothing where that is empty.
    """

    @property
    def about(self) -> Hashable:
        """The same in all parts, for notes that add up."""
        same = (getattr(self, one.name) for one in fields(self) if _COMBINE not in one.metadata)
        return type(self).__name__, *same

    def __add__(self, other: Self) -> Self:
        """What both parts have seen."""
        return replace(
            self,
            **{
                one.name: one.metadata[_COMBINE](
                    *(getattr(part, one.name) for part in (self, other))
                )
                for one in fields(self)
                if _COMBINE in one.metadata
            },
        )


def _sums(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(mine + its for mine, its in zip(one, other, strict=True))


@dataclass(frozen=True)
class RowsNote(Note):
    """A note with numbers of rows or users, each of which is in one part.

    Parameters
    ----------
    words : before, between and after the numbers
    n : nothing is told where the first is 0

    >>> note = RowsNote(("", " of ", " rows repeat a user"), (3, 1000))
    >>> str(note + note)
    '6 of 2,000 rows repeat a user'
    """

    words: tuple[str, ...]
    n: tuple[int, ...] = over_parts(_sums)

    def __str__(self) -> str:
        return _filled(self.words, [f"{n:,}" for n in self.n]) if self.n[0] else ""


@dataclass(frozen=True)
class ItemsNote(Note):
    """A note with numbers of items, of which parts have the same: that with most of them is told.

    Parameters
    ----------
    words : before, between and after the numbers
    n : nothing is told where the first is 0
    n_parts : that were looked at

    >>> note = ItemsNote(("", " items have no category"), (3,))
    >>> str(note), str(note + ItemsNote(note.words, (5,)))
    ('3 items have no category', '5 or more items have no category')
    """

    words: tuple[str, ...]
    n: tuple[int, ...] = over_parts(max)
    n_parts: int = over_parts(add, default=1)

    def __str__(self) -> str:
        more = " or more" if self.n_parts > 1 else ""
        return _filled(self.words, [f"{n:,}{more}" for n in self.n]) if self.n[0] else ""


def _filled(words: tuple[str, ...], numbers: Iterable[str]) -> str:
    first, *others = words
    return first + "".join(n + text for n, text in zip(numbers, others, strict=True))


Notes = tuple[Note | str, ...]


def added(one: Iterable[Note | str], other: Iterable[Note | str]) -> Notes:
    """The notes of parts: those about the same as one, those that are only text once."""
    sums: dict[Hashable, Note | str] = {}
    for note in (*one, *other):
        if isinstance(note, str):
            sums[note] = note
            continue
        before = sums.get(note.about)
        sums[note.about] = before + note if isinstance(before, Note) else note
    return tuple(sums.values())


def in_words(notes: Iterable[Note | str]) -> tuple[str, ...]:
    """All that is to be told."""
    return tuple(text for note in notes if (text := str(note)))
