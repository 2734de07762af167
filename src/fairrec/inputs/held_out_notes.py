"""What the reader should know of held-out interactions, and of recommendations beside them."""

from __future__ import annotations

from dataclasses import dataclass
from operator import add, or_
from typing import Any

from fairrec.core.errors import plain, some_of
from fairrec.core.options import spelled
from fairrec.inputs.notes import Note, over_parts
from fairrec.inputs.relevance import advised


@dataclass(frozen=True)
class GradesNote(Note):
    """What gains mean that are not all the same."""

    where: str
    column: str
    low: float = over_parts(min)
    high: float = over_parts(max)
    n_zero: int = over_parts(add)

    def __str__(self) -> str:
        if self.low == self.high:
            return ""
        zero = f"; the {self.n_zero:,} rows with 0 are not relevant" if self.n_zero else ""
        return (
            f"{self.where}: ndcg and exposure_to_relevance go by the '{plain(self.column)}' of "
            f"held-out items ({self.low:g} to {self.high:g}), all other metrics count each of them "
            f"as relevant{zero}. To count "
            f"some of them alone, all alike: {advised(self.column, self.low, self.high)}"
        )


def _unions(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(mine | its for mine, its in zip(one, other, strict=True))


@dataclass(frozen=True)
class FlagsNote(Note):
    """A column of 0 and 1 that nobody looks at may say what is relevant.

    Parameters
    ----------
    columns : all that nobody looks at
    values : of each some that it has, more than two where it has more
    """

    where: str
    columns: tuple[str, ...]
    values: tuple[frozenset[float | None], ...] = over_parts(_unions)

    def __str__(self) -> str:
        found = zip(self.columns, self.values, strict=True)
        column = next((name for name, values in found if values == {0.0, 1.0}), None)
        if column is None:
            return ""
        return (
            f"'{plain(column)}' in {self.where} is 0 or 1 and is not looked at: every row counts "
            f"as relevant. If 0 means that it is not: {spelled('relevant', f'{column}>0')}"
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
            f"{self.n:,} user{s} of {self.where} ({some_of(self.examples, self.n)}) {are} not in "
            f"{self.users_where} and {are} left out"
        )


@dataclass(frozen=True)
class ItemKindsNote(Note):
    """Items that are numbers here and text there meet only where they are spelt alike."""

    where: str
    test_where: str
    are_text: bool = over_parts(or_)
    are_text_in_test: bool = over_parts(or_)

    def __str__(self) -> str:
        if self.are_text == self.are_text_in_test:
            return ""
        kinds = ["text" if one else "whole numbers" for one in (self.are_text, not self.are_text)]
        return (
            f"item ids are {kinds[0]} in {self.where} and {kinds[1]} in {self.test_where}; they "
            "are compared as text, so that '05' is not 5"
        )


@dataclass(frozen=True)
class HitsNote(Note):
    """Recommendations that no user wanted are mostly those of other users or items."""

    test_where: str
    is_any: bool = over_parts(or_)

    def __str__(self) -> str:
        if self.is_any:
            return ""
        return (
            f"not one recommended item is held out for its user. Check that {self.test_where} is "
            "the test table and no other, and that its ids are those of the recommendations"
        )
