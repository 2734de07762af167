"""Side data of some metrics: the categories of items and the popularity in the history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.errors import InputError, plain
from fairrec.core.kernels import kernel
from fairrec.inputs.coded_ids import encode_ids
from fairrec.inputs.flat_lists import runs_of
from fairrec.inputs.ids import comparable, encode, positions_in
from fairrec.inputs.notes import ItemsNote, Note, Notes
from fairrec.inputs.tables import Table, ids_as_integers_or_text

if TYPE_CHECKING:
    from fairrec.inputs.other_lists import OtherLists
    from fairrec.inputs.tastes import Tastes

NO_CATEGORY = ("", "(no genres listed)")
"""What stands for no category; the second in MovieLens."""
HEAD = 0.2
"""The share of items that are the popular ones; the others are the long tail."""


@dataclass(frozen=True, slots=True)
class Categories:
    """Category codes of each candidate item: item `i` has `codes[offsets[i]:offsets[i + 1]]`.

    Codes of an item are sorted and distinct; an item without categories has none.
    """

    offsets: IntArray
    codes: CodeArray


@dataclass(frozen=True, slots=True)
class Popularity:
    """How often items were interacted with in training, in percent of all interactions.

    Parameters
    ----------
    per_item : (n_items,), 0 for an item nobody interacted with
    history_per_user : (n_users,), mean popularity of a user's own history; NaN without one
    percent : of one interaction
    is_head : (n_items,), whether an item is among the most popular fifth of those in the history
    """

    per_item: FloatArray
    history_per_user: FloatArray
    percent: float
    is_head: BoolArray

    def for_lists(self, lists: IntArray) -> Popularity:
        """The same for the users of some candidate lists, in that order."""
        return replace(self, history_per_user=self.history_per_user[lists])


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
    tastes: Tastes | None = None
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
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    words = (
        *("", " of ", " candidate items have no category ("),
        f" are not in {table.where}); pairs with them are left out of URD",
    )
    note = ItemsNote(words, (int((counts == 0).sum()), len(item_ids), int((rows < 0).sum())))
    return Categories(offsets, codes[order].astype(np.int32)), note


def read_popularity(
    table: Table, item_ids: pl.Series, user_ids: pl.Series
) -> tuple[Popularity, Note]:
    """Popularity of the candidate items and of the history of the audited users."""
    frame = table.read({name: table.require(name) for name in ("user_id", "item_id")})
    codes, keys = encode_ids(frame["item_id"], table.where)
    if table.piece is None:
        n_per_item = np.bincount(codes, minlength=len(keys))
    else:
        # what is popular is so among all users
        keys_here, (keys, n_per_item) = keys, table.piece.read_item_counts()
        codes = positions_in(keys_here, keys)[codes]
    percent = 100 / int(n_per_item.sum())

    at = positions_in(item_ids, keys)
    per_item = np.where(at >= 0, n_per_item[np.maximum(at, 0)] * percent, 0.0)

    users, bounds = runs_of(frame["user_id"])
    owner = positions_in(*comparable(table.user_keys(users), user_ids))
    mine = owner >= 0

    def per_user(per_run: IntArray) -> FloatArray:
        # whole numbers until the end, so that the order of the rows changes no digit
        weights = per_run[mine].astype(np.float64)
        return np.bincount(owner[mine], weights, minlength=len(user_ids)).astype(np.float64)

    n_interactions = per_user(np.diff(bounds))
    total = per_user(_sums_of_runs(n_per_item, codes, bounds))
    undefined = np.full(len(user_ids), np.nan)
    history = np.divide(total * percent, n_interactions, out=undefined, where=n_interactions > 0)
    if (n_interactions > 0).any():
        table.clear("users")
    else:
        table.doubt(
            "users",
            f"{table.where}: none of the audited users has a row there. "
            "Check that its user ids are those of the predictions.",
        )
    absent = f" candidate items do not occur in {table.where}; their popularity is 0"
    note = ItemsNote(("", " of ", absent), (int((at < 0).sum()), len(item_ids)))
    is_head = (at >= 0) & most_popular(n_per_item)[np.maximum(at, 0)]
    return Popularity(per_item, history, percent, is_head), note


def most_popular(n_per_item: IntArray) -> BoolArray:
    """(n_items,), whether each is in the fifth with most interactions; ties in their order.

    >>> most_popular(np.array([1, 9, 3, 9, 1])).tolist()
    [False, True, False, False, False]
    """
    is_head = np.zeros(len(n_per_item), dtype=bool)
    is_head[np.argsort(-n_per_item, kind="stable")[: round(HEAD * len(n_per_item))]] = True
    return is_head


@kernel
def _sums_of_runs(n_per_item: IntArray, codes: CodeArray, bounds: IntArray) -> IntArray:
    sums = np.zeros(len(bounds) - 1, dtype=np.int64)
    for run in range(len(sums)):
        for row in range(bounds[run], bounds[run + 1]):
            sums[run] += n_per_item[codes[row]]
    return sums


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
