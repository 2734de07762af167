"""Side data of some metrics: categories and other columns of items, popularity, tastes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairrec.core.arrays import CodeArray, FloatArray, IntArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.inputs.ids import bounds_of, encode, ids_as_integers_or_text, positions_in
from fairrec.inputs.notes import ItemsNote, Note, Notes
from fairrec.inputs.tables import Table

if TYPE_CHECKING:
    from fairrec.inputs.side_data import Popularity, UserProfiles
    from fairrec.inputs.user_lists import OtherLists


NO_CATEGORY = ("", "(no genres listed)")
"""What stands for no category; the second in MovieLens."""


@dataclass(frozen=True, slots=True)
class Categories:
    """Category codes of each candidate item: item `i` has `codes[offsets[i]:offsets[i + 1]]`.

    Codes of an item are sorted and distinct; an item without categories has none.
    """

    offsets: IntArray
    codes: CodeArray


@dataclass(frozen=True, slots=True)
class SideData:
    """What a metric may need beyond the ranked lists.

    Parameters
    ----------
    values : (n_lists,) each, numbers that somebody else measured, by name
    per_item : (n_items,) each, what metrics ask of a column of the items; NaN where not known
    tastes : what users chose before, by categories
    against : other lists of the same users
    """

    categories: Categories | None = None
    popularity: Popularity | None = None
    notes: Notes = field(default=())
    values: Mapping[str, FloatArray] = field(default_factory=dict)
    per_item: Mapping[str, FloatArray] = field(default_factory=dict)
    tastes: UserProfiles | None = None
    against: OtherLists | None = None

    def for_lists(self, lists: IntArray) -> SideData:
        """The same for some candidate lists, in that order."""
        popularity = self.popularity and self.popularity.for_lists(lists)
        values = {name: column[lists] for name, column in self.values.items()}
        tastes = self.tastes and self.tastes.for_lists(lists)
        against = self.against and self.against.for_lists(lists)
        return replace(self, popularity=popularity, values=values, tastes=tastes, against=against)


def read_categories(table: Table, item_ids: pl.Series) -> tuple[Categories, Note]:
    """Categories of the candidate items, and how many have none."""
    parts = {"item_id": table.require("item_id"), "categories": table.require("categories")}
    frame = table.read(parts)
    keys = ids_as_integers_or_text(frame["item_id"], table.where)
    table.refuse_duplicates(
        keys, parts["item_id"], "Keep one row per item and join its categories with '|'."
    )
    lists = as_lists(frame["categories"], table.where, parts["categories"])
    rows = positions_in(item_ids, keys)
    # numbered over the whole table, so that two readings of it agree
    named = (
        lists.to_frame("categories")
        .with_row_index("row")
        .explode("categories")
        .with_columns(pl.col("categories").str.strip_chars())
        .filter(~pl.col("categories").is_in(NO_CATEGORY), pl.col("categories").is_not_null())
        .unique()
    )
    numbers, _ = encode(named["categories"])
    pairs = (
        pl.DataFrame({"item": np.arange(len(rows), dtype=np.int64), "row": rows})
        .filter(pl.col("row") >= 0)
        .with_columns(pl.col("row").cast(pl.UInt32))
        .join(named.select("row", pl.Series("code", numbers)), on="row", how="inner")
    )
    codes = pairs["code"].to_numpy()
    order = np.lexsort((codes, pairs["item"].to_numpy()))
    items = pairs["item"].to_numpy()[order]
    counts = np.bincount(items, minlength=len(item_ids))
    offsets = bounds_of(counts)
    words = (
        *("", " of ", " candidate items have no category ("),
        f" are not in {table.where}); pairs with them are left out of URD",
    )
    note = ItemsNote(words, (int((counts == 0).sum()), len(item_ids), int((rows < 0).sum())))
    return Categories(offsets, codes[order].astype(np.int32)), note


def as_lists(categories: pl.Series, where: str, column: str) -> pl.Series:
    """What each item has, of which it may have several: a list, or text joined with '|'."""
    kind = categories.dtype
    is_list = isinstance(kind, pl.List | pl.Array)
    try:
        if is_list:
            return categories.cast(pl.List(pl.String))
        if not kind.is_nested():
            return categories.cast(pl.String).str.split("|")
    except pl.exceptions.PolarsError:
        pass
    raise InputError(
        f"{where}: column '{plain(column)}' is of type {plain(kind)}. Give a list of text, or text "
        "joined with '|'."
    )


def read_item_columns(
    table: Table, item_ids: pl.Series, asked: Sequence[str]
) -> tuple[dict[str, FloatArray], list[Note]]:
    """What each metric asked for, (n_items,) each, NaN where it is not known; and of how many."""
    parts = {"item_id": table.require("item_id")}
    named = {one: _column(table, one) for one in asked}
    parts |= {f"column {column}": column for column in named.values()}
    frame = table.read(parts, labels=[f"column {named[one]}" for one in asked if "=" in one])
    keys = ids_as_integers_or_text(frame["item_id"], table.where)
    table.refuse_duplicates(keys, parts["item_id"], "Keep one row per item.")
    rows = positions_in(item_ids, keys)
    found: dict[str, FloatArray] = {}
    notes: list[Note] = []
    for one, column in named.items():
        values = frame[f"column {column}"]
        of_row = (
            _has_value(values, one, table)
            if "=" in one
            else table.numbers_with_gaps(values, column)
        )
        if of_row is None:
            raise InputError(f"{table.where}: column '{plain(column)}' is empty in every row.")
        found[one] = np.where(rows >= 0, of_row[np.maximum(rows, 0)], np.nan)
        words = (
            *("", " of ", f" candidate items have no {plain(column)} ("),
            f" are not in {table.where}); their places are left out of [{plain(one)}]",
        )
        unknown = int(np.isnan(found[one]).sum())
        notes.append(ItemsNote(words, (unknown, len(item_ids), int((rows < 0).sum()))))
    return found, notes


def _column(table: Table, asked: str) -> str:
    """The column that is asked for."""
    name = asked.partition("=")[0]
    if name not in table.columns:
        raise InputError(f"{table.where}: {unknown_name('column', name, table.columns)}")
    return name


def _has_value(values: pl.Series, asked: str, table: Table) -> FloatArray:
    """(n_rows,), whether a row has the value, among others where it has several."""
    column, _, value = asked.partition("=")
    lists = as_lists(values, table.where, column)
    stripped = pl.element().str.strip_chars()
    pieces = lists.list.eval(stripped.filter(~stripped.is_in(NO_CATEGORY)))
    has = pieces.list.contains(value)
    if not has.any():
        known = pieces.explode().drop_nulls().unique(maintain_order=True).to_list()
        told = unknown_name(f"value of column '{plain(column)}'", value, known)
        raise InputError(f"{table.where}: {told}")
    is_known = (pieces.list.len() > 0).fill_null(False)
    return np.where(is_known.to_numpy(), has.fill_null(False).to_numpy(), np.nan)
