"""What a table is read from: its columns, and how to get some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import polars as pl


class Role(Enum):
    """What a column is read for, which says what text stands for where a file holds only text."""

    NAME = "an id or a category: the text itself"
    LABEL = "a value that only names something: whole numbers as such, '007' as text"
    NUMBER = "a number"
    ANY = "whatever all its values are"


class Source(Protocol):
    """Where the rows of a table come from."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of all columns."""

    @property
    def hint(self) -> str:
        """What to try where a column is missing, one sentence or nothing."""

    @property
    def notes(self) -> Sequence[str]:
        """What the reader of a result should know about how it was read."""

    @property
    def is_text(self) -> bool:
        """Whether it holds text only, so that numbers are told by how they look."""

    def kinds(self) -> Mapping[str, pl.DataType]:
        """The type of each column, those left out that cannot be read."""
        ...

    def read(self, columns: Mapping[str, str], roles: Mapping[str, Role]) -> pl.DataFrame:
        """Some columns: new name -> column of the table, and what each new one is read for."""
        ...


@dataclass(frozen=True)
class Rows:
    """Rows whose columns have types of their own: Parquet, Arrow and JSON files, Polars frames."""

    frame: pl.LazyFrame
    columns: Sequence[str]
    hint: str = ""
    notes: Sequence[str] = ()
    is_text: bool = False

    @classmethod
    def of(cls, frame: pl.LazyFrame) -> Rows:
        """The rows of a frame, of which only the names of the columns are looked at yet."""
        frame = _items_in_rows(frame)
        return cls(frame, frame.collect_schema().names())

    def kinds(self) -> Mapping[str, pl.DataType]:
        """The type of each column."""
        return self.frame.collect_schema()

    def read(self, columns: Mapping[str, str], roles: Mapping[str, Role]) -> pl.DataFrame:
        """Some columns, as they are."""
        return self.frame.select(
            pl.col(column).alias(name) for name, column in columns.items()
        ).collect()


def _items_in_rows(frame: pl.LazyFrame) -> pl.LazyFrame:
    """One row an item, where a column holds a list of records of items, as LensKit writes them."""
    kinds = frame.collect_schema()
    if "item_id" in kinds:
        return frame
    for name, kind in kinds.items():
        inner = kind.inner if isinstance(kind, pl.List) else None
        if isinstance(inner, pl.Struct) and "item_id" in (field.name for field in inner.fields):
            fields = {field.name for field in inner.fields}
            others = [column for column in kinds if column != name and column not in fields]
            # a user whose list is empty has no row, and so no list
            some = frame.filter(pl.col(name).list.len() > 0)
            return some.select(*others, pl.col(name)).explode(name).unnest(name)
    return frame
