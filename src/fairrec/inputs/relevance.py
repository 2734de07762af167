"""Which items are relevant, where a number has to be compared to tell: `rating>=4`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import InputError, listed, plain
from fairrec.core.kinds import Kind, to_number
from fairrec.core.options import spelled

if TYPE_CHECKING:
    from fairrec.inputs.tables import Table

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_WRITTEN = re.compile(r"\s*([^<>=!]+?)\s*(>=|<=|==|!=|=|>|<)\s*([^<>=!]+?)\s*")


@dataclass(frozen=True, slots=True)
class Relevance:
    """A condition on a column: items that meet it are relevant, each as much as the others.

    >>> Relevance.of("rating>=4")
    Relevance(column='rating', comparison='>=', threshold=4.0)
    >>> str(Relevance.of("rating >= 4"))
    'rating>=4'
    """

    column: str
    comparison: str
    threshold: float

    @classmethod
    def of(cls, given: Any) -> Relevance:
        """The condition a text says; ValueError where it says none."""
        if isinstance(given, Relevance):
            return given
        written = _WRITTEN.fullmatch(given) if isinstance(given, str) else None
        if written is None:
            raise ValueError
        threshold = float(to_number(written[3]))
        # 4_0 is forty in a program and a slip here, as in bins
        if "_" in written[3] or not math.isfinite(threshold):
            raise ValueError
        return cls(written[1], written[2], threshold)

    def __str__(self) -> str:
        # to the last digit: a time in seconds has ten of them
        return f"{self.column}{self.comparison}{repr(self.threshold).removesuffix('.0')}"

    def met_by(self, numbers: Any) -> Any:
        """Which of the numbers meet it."""
        return _COMPARE[self.comparison](numbers, self.threshold)


RELEVANCE = Kind(
    Relevance.of, "a column compared with a number, such as rating>=4", "COLUMN>=NUMBER"
)


def compared_column(table: Table, relevant: Relevance) -> str:
    """The column that a condition is about."""
    option = spelled("relevant", str(relevant))
    return number_column(table, relevant.column, f"{option} compares")


def number_column(table: Table, asked: str, use: str) -> str:
    """A column by its name or another one it is known by.

    Parameters
    ----------
    use : the option that names it and what for, for the error
    """
    column, name = table.attribute_column(asked), asked.lower()
    if column is None and name in ("rating", "label"):
        column = table.find(name)
    if column is None:
        alike = [known for known in table.columns if known.lower() == name]
        column = alike[0] if len(alike) == 1 else None
    if column is None:
        raise InputError(
            f"{table.where}: no column {plain(repr(asked))}, which {use}. Columns here: "
            f"{listed(table.columns)}."
        )
    return column


def advised(column: str, low: float, high: float) -> str:
    """How to count the upper part of a scale alone: from 4 on where it runs from 1 to 5."""
    middle = (low + high) / 2
    threshold = math.ceil(middle + 0.5) if high - low >= 2 else middle
    return spelled("relevant", f"{column}>={threshold:g}")
