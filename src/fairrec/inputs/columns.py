"""The columns of a table by the parts they play, and conditions on them: `rating>=4`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

from fairrec.core.errors import InputError, listed, plain, unknown_name
from fairrec.core.option_types import Form, Pairs, parse_number
from fairrec.core.options import spell

if TYPE_CHECKING:
    from fairrec.inputs.tables import Table


ALIASES: dict[str, tuple[str, ...]] = {
    "user_id": ("userid", "uid", "user", "user_idx", "customer_id", "customerid"),
    "item_id": ("itemid", "iid", "item", "item_idx", "movie_id", "movieid", "product_id"),
    "score": (
        *("scores", "prediction", "predictions", "predicted", "pred"),
        *("y_score", "y_pred", "est"),
    ),
    "rank": ("ranking", "position", "place"),
    "label": ("labels", "y_true", "relevance", "clicked", "click"),
    "rating": ("ratings", "weight", "weights", "gain", "grade", "r_ui"),
    "categories": ("category", "genres", "genre"),
}
"""Other names by which a column is known, compared without case."""


TABLES = ("predictions", "test", "values", "users", "items", "history")


_RECBOLE_TYPE = re.compile(r":(token|token_seq|float|float_seq)$")


def plain_name(column: str) -> str:
    """The column name without RecBole's type suffix.

    >>> plain_name("user_id:token")
    'user_id'
    """
    return _RECBOLE_TYPE.sub("", column)


def recbole_type(column: str) -> str:
    """The type in RecBole's name of a column, or nothing.

    >>> recbole_type("genre:token_seq"), recbole_type("genre")
    ('token_seq', '')
    """
    found = _RECBOLE_TYPE.search(column)
    return found[1] if found else ""


ColumnNames = Annotated[
    Mapping[str, str], Pairs, Form("name=column, such as user_id=uid", "NAME=COLUMN", is_list=True)
]
"""Names of columns by the names they are known by."""


def check_mapping(mapping: Mapping[str, str]) -> None:
    """Refuse a mapping of a name that no table has."""
    for wanted in mapping:
        table, dot, name = wanted.rpartition(".")
        if dot and table not in TABLES:
            raise unknown_name("table", table, TABLES)
        if name not in ALIASES:
            raise unknown_name("column to map", name, ALIASES)


def named_column(name: str, columns: Sequence[str]) -> str | None:
    """The column of that name, or the first that has it without RecBole's type, or None."""
    if name in columns:
        return name
    return next((column for column in columns if plain_name(column) == name), None)


def find_column(
    role: str, columns: Sequence[str], table: str, where: str, mapping: Mapping[str, str]
) -> str | None:
    """The name of the column that holds `role`, or None where there is none.

    A mapping for this table wins, then a mapping for all tables, the exact name, and the
    aliases. Two aliases at once are an error, not a guess.
    """
    for key in (f"{table}.{role}", role):
        column = mapping.get(key)
        mapped = None if column is None else named_column(column, columns)
        if mapped is not None:
            return mapped
        if column is not None and "." in key:
            raise InputError(
                f"{where}: no column {plain(repr(column))}, which {spell('columns')} gives for "
                f"{key}. Columns here: {listed(columns)}."
            )
    if role in columns:
        return role
    for names in ((role,), (role, *ALIASES.get(role, ()))):
        found = [column for column in columns if plain_name(column).lower() in names]
        if len(found) > 1:
            raise InputError(
                f"{where}: both {plain(repr(found[0]))} and {plain(repr(found[1]))} could be "
                f"{role}. Say which: {spell('columns', {role: found[0]})}"
            )
        if found:
            return found[0]
    return None


def refuse_unused(mapping: Mapping[str, str], columns: Mapping[str, Sequence[str]]) -> None:
    """Refuse a mapping to a column that no table has: it would be ignored without a word."""
    known = [column for names in columns.values() for column in names]
    for wanted, column in mapping.items():
        # one for a table that is there is refused where that table is read
        if named_column(column, known) is None and wanted.partition(".")[0] not in columns:
            error = unknown_name("column", column, {*known})
            raise InputError(f"{spell('columns', {wanted: column})}: {error}")


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

    >>> Relevance.parse("rating>=4")
    Relevance(column='rating', comparison='>=', threshold=4.0)
    >>> str(Relevance.parse("rating >= 4"))
    'rating>=4'
    """

    column: str
    comparison: str
    threshold: float

    @classmethod
    def parse(cls, given: Any) -> Relevance:
        """The condition a text says; ValueError where it says none."""
        if isinstance(given, Relevance):
            return given
        written = _WRITTEN.fullmatch(given) if isinstance(given, str) else None
        if written is None:
            raise ValueError
        threshold = float(parse_number(written[3]))
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


RelevanceType = Annotated[
    Relevance,
    BeforeValidator(Relevance.parse),
    Form("a column compared with a number, such as rating>=4", "COLUMN>=NUMBER"),
]
"""An option that sets one."""


def compared_column(table: Table, relevant: Relevance) -> str:
    """The column that a condition is about."""
    option = spell("relevant", str(relevant))
    return number_column(table, relevant.column, f"{option} compares")


def number_column(table: Table, name: str, use: str) -> str:
    """A column by its name or another one it is known by.

    Parameters
    ----------
    use : the option that names it and what for, for the error
    """
    column = table.attribute_column(name)
    if column is None and name.lower() in ("rating", "label"):
        column = table.find(name.lower())
    if column is None:
        alike = [known for known in table.columns if known.lower() == name.lower()]
        column = alike[0] if len(alike) == 1 else None
    if column is None:
        raise InputError(
            f"{table.where}: no column {plain(repr(name))}, which {use}. Columns here: "
            f"{listed(table.columns)}."
        )
    return column


def suggest_threshold(column: str, low: float, high: float) -> str:
    """How to count the upper part of a scale alone: from 4 on where it runs from 1 to 5."""
    middle = (low + high) / 2
    threshold = math.ceil(middle + 0.5) if high - low >= 2 else middle
    return spell("relevant", f"{column}>={threshold:g}")
