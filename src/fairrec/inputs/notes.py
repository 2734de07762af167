"""What the reader of a result should know of a table, whether or not it was read in parts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import reduce
from operator import add, and_
from typing import Any, Self

from fairrec.core.errors import plain
from fairrec.core.options import spell
from fairrec.inputs.columns import suggest_threshold

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
        combine = {one.name: one.metadata.get(_COMBINE) for one in fields(self)}
        return replace(
            self,
            **{
                name: combined(getattr(self, name), getattr(other, name))
                for name, combined in combine.items()
                if combined is not None
            },
        )


N = "\0"
"""Where a number stands in the text of a note."""


@dataclass(frozen=True)
class RowsNote(Note):
    """A note with numbers of rows or users, each of which is in one part.

    Parameters
    ----------
    text : with `N` in the place of each number
    n : nothing is told where the first is 0

    >>> note = RowsNote(f"{N} of {N} rows repeat a user", (3, 1000))
    >>> str(note + note)
    '6 of 2,000 rows repeat a user'
    """

    text: str
    n: tuple[int, ...] = over_parts(lambda one, other: tuple(map(add, one, other)))

    def __str__(self) -> str:
        return _filled(self.text, [f"{n:,}" for n in self.n]) if self.n[0] else ""


@dataclass(frozen=True)
class ItemsNote(Note):
    """A note with numbers of items, of which parts have the same: that with most of them is told.

    Parameters
    ----------
    text, n : see `RowsNote`
    n_parts : that were looked at

    >>> note = ItemsNote(f"{N} items have no category", (3,))
    >>> str(note), str(note + ItemsNote(note.text, (5,)))
    ('3 items have no category', '5 or more items have no category')
    """

    text: str
    n: tuple[int, ...] = over_parts(max)
    n_parts: int = over_parts(add, default=1)

    def __str__(self) -> str:
        more = " or more" if self.n_parts > 1 else ""
        return _filled(self.text, [f"{n:,}{more}" for n in self.n]) if self.n[0] else ""


def _filled(text: str, numbers: Iterable[str]) -> str:
    return reduce(lambda filled, n: filled.replace(N, n, 1), numbers, text)


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


@dataclass(frozen=True)
class GradesNote(Note):
    """Grades of held-out items that do not weigh them, though nobody said that they shall not.

    Parameters
    ----------
    least : of those above 0
    """

    where: str
    column: str
    least: float = over_parts(min)
    high: float = over_parts(max)

    def __str__(self) -> str:
        if self.least >= self.high:
            return ""
        return (
            f"{CHECK_FIRST}{self.where}: held-out items count alike, whatever their "
            f"'{plain(self.column)}' ({self.least:g} to {self.high:g}). To weigh ndcg by it: "
            f"{spell('gain', self.column)}; to count some alone: "
            f"{suggest_threshold(self.column, self.least, self.high)}"
        )


_FEW, _ENOUGH = 20, 100
"""Lists that find nine in ten of so many held-out items miss one in 88% and 99.997% of cases."""
_SHARE_WITHOUT = 0.01


@dataclass(frozen=True)
class JoinedNote(Note):
    """Lists that miss nothing, as where held-out items are only those that were recommended.

    Parameters
    ----------
    k : the largest cut-off of a metric that counts them
    n_lists, n_without : lists that are not empty, and those of users with nothing held out
    longest : the length of the longest list
    is_covering : whether lists hold more than half of all items, and so cannot miss much
    """

    where: str
    test_where: str
    k: float
    n_held_out: int = over_parts(add)
    n_missed: int = over_parts(add)
    n_lists: int = over_parts(add)
    n_without: int = over_parts(add)
    longest: int = over_parts(max)
    is_covering: bool = over_parts(and_)

    @property
    def _lacks_users(self) -> bool:
        """Whether users with a list have lost all of their held-out items."""
        return self.n_without > _SHARE_WITHOUT * self.n_lists and not self.is_covering

    @property
    def is_refused(self) -> bool:
        """Whether there can be no other reason."""
        # candidates that were drawn to contain what is held out are longer
        is_short = self.longest <= self.k and not self.n_missed
        return is_short and self._lacks_users and self.n_held_out >= _ENOUGH

    @property
    def remedy(self) -> str:
        """What is wrong, and what to do."""
        return (
            "every held-out item is in its user's list. A table that was joined with the "
            "recommendations has lost all that they missed, and recall is 1 whatever they are "
            "worth: give the whole held-out table. If these are candidates that were drawn to "
            "contain what is held out, or clicks on the lists as served, give them as labels: a "
            f"column label in {self.where}, without {spell('test')}."
        )

    def __str__(self) -> str:
        is_odd = self._lacks_users or (self.longest <= self.k and not self.is_covering)
        if self.n_missed or self.n_held_out < _FEW or not is_odd:
            return ""
        return f"{CHECK_FIRST}{self.test_where}: {self.remedy.rstrip('.')}"
