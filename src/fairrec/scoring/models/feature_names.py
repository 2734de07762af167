"""Which columns of the tables a model is given beside the ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fairrec.core.errors import InputError, plain
from fairrec.core.names import names_in
from fairrec.core.options import spelled

IDS = ("user_id", "item_id")


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of the users or items table."""

    table: Literal["users", "items"]
    column: str


def parse_features(given: str | Sequence[str] | None) -> tuple[Feature, ...]:
    """Features from text such as `users:age,items:categories`.

    >>> parse_features("users:age, items:price")
    (Feature(table='users', column='age'), Feature(table='items', column='price'))

    A column without a table is of the table named before: `users:gender,age`.
    """
    found: list[Feature] = []
    for part in names_in(() if given is None else given):
        table, colon, column = part.partition(":")
        if found and not colon:
            table, column = found[-1].table, part
        if table not in ("users", "items") or not column:
            raise InputError(
                f"invalid {spelled('features')}: expected TABLE:COLUMN, such as users:age, got "
                f"{plain(repr(part))}"
            )
        if column in IDS or column in [feature.column for feature in found]:
            raise InputError(
                f"{spelled('features')}: two columns would be called {plain(repr(column))}. Name "
                "each once; user_id and item_id are there anyway."
            )
        found.append(Feature("users" if table == "users" else "items", column))
    return tuple(found)
