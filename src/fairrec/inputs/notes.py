"""What the reader of a result should know of a table, whether or not it was read in parts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import reduce
from operator import add, and_
from typing import Any, Self

from fairrec.core.errors import list_some, plain
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
    """What the grades of held-out items decide: gains where that was asked for, else relevance.

    Parameters
    ----------
    least : of those above 0
    is_gain : whether items are weighed by them
    """

    where: str
    column: str
    is_gain: bool
    least: float = over_parts(min)
    high: float = over_parts(max)
    n_zero: int = over_parts(add)

    def __str__(self) -> str:
        zero = f"the {self.n_zero:,} rows with 0 are not relevant" if self.n_zero else ""
        column, grades = plain(self.column), f"{self.least:g} to {self.high:g}"
        if self.is_gain:
            return (
                f"{self.where}: ndcg and exposure_to_relevance weigh held-out items by '{column}' "
                f"({grades}), all other metrics count them alike{zero and f'; {zero}'}"
            )
        if self.least >= self.high:
            return zero and f"{self.where}: by '{column}', {zero}"
        return (
            f"{CHECK_FIRST}{self.where}: held-out items count alike, whatever their '{column}' "
            f"({grades}){zero and f'; {zero}'}. To weigh ndcg by it: "
            f"{spell('gain', self.column)}; to count some alone: "
            f"{suggest_threshold(self.column, self.least, self.high)}"
        )


def _each(combine: Callable[[Any, Any], Any]) -> Callable[..., tuple[Any, ...]]:
    return lambda one, other: tuple(map(combine, one, other))


_MOST_GRADES = 1e8
"""Larger numbers are times in seconds."""


@dataclass(frozen=True)
class UnusedNumbersNote(Note):
    """A column of numbers that is not looked at may say what is relevant, or how much.

    Parameters
    ----------
    columns : all that are not looked at
    low, high, are_flags : of each; whether it has 0 and 1 alone
    """

    where: str
    columns: tuple[str, ...]
    low: tuple[float, ...] = over_parts(_each(min))
    high: tuple[float, ...] = over_parts(_each(max))
    are_flags: tuple[bool, ...] = over_parts(_each(and_))

    def __str__(self) -> str:
        # grades and counts begin at 0 or 1, and years, times and prices do not
        found = [
            (name, low, high, is_flag)
            for name, low, high, is_flag in zip(
                self.columns, self.low, self.high, self.are_flags, strict=True
            )
            if 0 <= low <= 1 and low < high < _MOST_GRADES
        ]
        if not found:
            return ""
        # a flag says what is relevant more often than a number does
        column, low, high, is_flag = max(found, key=lambda one: one[-1])
        head = f"{CHECK_FIRST}'{plain(column)}' in {self.where}"
        if is_flag:
            return (
                f"{head} is 0 or 1 and is not looked at: every row counts as relevant. If 0 means "
                f"that it is not: {spell('relevant', f'{column}>0')}"
            )
        return (
            f"{head} ({low:g} to {high:g}) is not looked at: every row counts alike. To weigh ndcg "
            f"by it: {spell('gain', column)}; to count some rows alone: "
            f"{suggest_threshold(column, low, high)}"
        )


SHOWN = 3
"""Users that are named as examples."""


def _first(one: tuple[object, ...], other: tuple[object, ...]) -> tuple[object, ...]:
    return (*one, *other)[:SHOWN]


@dataclass(frozen=True)
class UnknownUsersNote(Note):
    """Users of a table without attributes."""

    where: str
    users_where: str
    n: int = over_parts(add)
    examples: tuple[object, ...] = over_parts(_first)

    def __str__(self) -> str:
        s, are = ("", "is") if self.n == 1 else ("s", "are")
        return (
            f"{self.n:,} user{s} of {self.where} ({list_some(self.examples, self.n)}) {are} not in "
            f"{self.users_where} and {are} left out"
        )


_FEW, _ENOUGH = 20, 100
"""Lists that find nine in ten of so many held-out items miss one in 88% and 99.997% of cases."""


_SHARE_WITHOUT = 0.01
_SHARE_MISSED = 0.02
"""A join with lists that differ a little from these leaves so many misses."""


@dataclass(frozen=True)
class JoinedNote(Note):
    """Lists that miss nothing, as where held-out items are only those that were recommended.

    Parameters
    ----------
    k : the largest cut-off of a metric that counts them
    n_lists, n_without : lists that are not empty, and those of users with nothing held out
    longest : the length of the longest list
    is_covering : whether lists hold more than half of all items
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
        is_short = self.longest <= self.k
        if self.n_missed:
            # but for a few, as no model finds them
            is_few = self.n_missed <= _SHARE_MISSED * self.n_held_out
            if not (is_few and is_short and self._lacks_users):
                return ""
            return (
                f"{CHECK_FIRST}{self.test_where}: only {self.n_missed:,} of {self.n_held_out:,} "
                f"held-out items are missed, and {self.n_without:,} of {self.n_lists:,} users with "
                "a list have none. A table that was joined with recommendations has lost what they "
                "missed: give the whole held-out table"
            )
        if self.n_held_out < _FEW or not (is_short or self._lacks_users):
            return ""
        if self.is_covering:
            return (
                "no held-out item is missed, as lists hold more than half of the items that could "
                f"be in them. If there are more items, {self.test_where} was joined with the "
                "recommendations: give the whole held-out table"
            )
        return f"{CHECK_FIRST}{self.test_where}: {self.remedy.rstrip('.')}"
