"""What was shown to whom: lists, what was held out behind them, and what was seen before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError, listed
from fairrec.core.kernels import kernel
from fairrec.inputs.candidates import CandidateLists, read_candidates
from fairrec.inputs.catalogue import Catalogue
from fairrec.inputs.flat_lists import bounds_of, gather_lists, runs_of
from fairrec.inputs.held_out import read_held_out
from fairrec.inputs.held_out_notes import HitsNote
from fairrec.inputs.history import read_history
from fairrec.inputs.ids import encode, positions_in
from fairrec.inputs.notes import ItemsNote, Note, Notes, RowsNote
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table


class Rows(NamedTuple):
    """Items of lists: list `i` has `items[offsets[i]:offsets[i + 1]]`.

    Parameters
    ----------
    items : positions in the catalogue; the number of its items for one that is not there
    """

    offsets: IntArray
    items: IntArray


class Wanted(NamedTuple):
    """What was held out behind lists, the largest gain first."""

    rows: Rows
    gains: FloatArray


@dataclass(frozen=True, slots=True)
class Shown:
    """Lists of users, and what could have stood in them.

    Parameters
    ----------
    items : (n_item_ids,), the place of each candidate item in the catalogue; the number of its
        items for one that is not there
    is_of_all : whether the lists were chosen from the whole catalogue; else from their candidates
    wanted : None without held-out interactions
    seen : what users had before and were neither shown nor held out; None without a history
    made : what metrics have made of it and use again, by name and depth
    """

    candidates: CandidateLists
    catalogue: Catalogue
    items: IntArray
    is_of_all: bool
    wanted: Wanted | None
    seen: Rows | None
    notes: Notes
    made: dict[tuple[str, int], Any] = field(default_factory=dict, repr=False)

    @property
    def n_lists(self) -> int:
        """Lists, empty ones too."""
        return self.candidates.n_users

    @property
    def has_relevance(self) -> bool:
        """Whether it is known what users wanted."""
        return self.wanted is not None or self.candidates.labels is not None


def read_shown(tables: Mapping[str, Table], given: TableOptions, catalogue: Catalogue) -> Shown:
    """The lists of all users there are, with what was held out and seen where that is given."""
    table = tables["predictions"]
    users = _user_keys(table)
    is_of_all = "test" in tables or not (table.find("label") or given.relevant)
    candidates, row_of_list, n_padding = read_candidates(
        table,
        users,
        table.where,
        needs_labels=False,
        is_recommended=is_of_all,
        relevant=None if is_of_all else given.relevant,
    )
    filling = f" rows of {table.where} fill lists that are too short, and are left out"
    notes: list[Note | str] = [RowsNote(("", filling), (n_padding,))]
    items = _known_places(table, candidates.item_ids, tables["items"], catalogue)
    n_items = len(catalogue.item_keys)
    notes.append(_about_unknown(candidates, items, tables, catalogue))
    wanted, seen = None, None
    if "test" in tables:
        held_out = read_held_out(tables["test"], users, table.where, given.relevant)
        notes += held_out.notes
        at = _known_places(tables["test"], held_out.item_ids, tables["items"], catalogue)
        at = at[held_out.items]
        of_lists = held_out.of_lists(row_of_list)
        rows = Rows(of_lists.offsets, gather_lists(at, held_out.offsets, row_of_list))
        wanted = Wanted(rows, of_lists.gains)
        is_any = _have_common(*rows, candidates.offsets, items[candidates.items], n_items)
        notes.append(HitsNote(held_out.where, is_any))
    shown = Shown(candidates, catalogue, items, is_of_all, wanted, None, ())
    if "history" in tables and is_of_all:
        seen = _read_seen(tables, users[row_of_list], shown)
        notes.append(
            "an item could have been in a list unless the user had it before, as "
            f"{tables['history'].where} says"
        )
    if not is_of_all:
        notes.append("an item could have been in the lists whose candidate it is, and no other")
    return replace(shown, seen=seen, notes=(*catalogue.notes, *notes))


def _user_keys(table: Table) -> pl.Series:
    """The ids of all users with a list, as they are compared."""
    frame = table.read({"user_id": table.require("user_id")})
    return encode(table.user_keys(runs_of(frame["user_id"])[0]))[1]


def _known_places(
    table: Table, item_ids: pl.Series, items: Table, catalogue: Catalogue
) -> IntArray:
    """The place of each item in the catalogue; the number of its items where it has none.

    An error where none has: ids of another table would say that nobody wanted what is shown.
    """
    at = positions_in(item_ids, catalogue.item_keys).astype(np.int64)
    if len(at) and at.max() < 0:
        raise InputError(
            f"{table.where}: none of its {len(at):,} items is in {items.where}. Items there: "
            f"{listed(catalogue.item_keys.head(3).to_list())}. Check that both tables use the same "
            "item ids."
        )
    return np.where(at < 0, len(catalogue.item_keys), at)


def _about_unknown(
    candidates: CandidateLists, items: IntArray, tables: Mapping[str, Table], catalogue: Catalogue
) -> Note:
    """How many items have no row in the items table."""
    table = tables["predictions"]
    is_unknown = items == len(catalogue.item_keys)
    if len(catalogue.without_unit):
        # they have a row, and are counted with those that no list shows
        is_unknown &= positions_in(candidates.item_ids, catalogue.without_unit) < 0
    n_rows = int(np.bincount(candidates.items, minlength=len(items))[is_unknown].sum())
    words = (
        f"{table.where}: ",
        " of ",
        f" items have no row in {tables['items'].where}; they keep their places (",
        " rows) and are in no group",
    )
    return ItemsNote(words, (int(is_unknown.sum()), len(items), n_rows))


def _read_seen(tables: Mapping[str, Table], users: pl.Series, shown: Shown) -> Rows:
    """What the user of each list had before, less what was shown or held out all the same."""
    table = tables["history"]
    history = read_history(table)
    at = history.users_at(users)
    if (at < 0).all():
        raise InputError(
            f"{table.where}: none of the users with a list has a row there. Check that its user "
            "ids are those of the predictions."
        )
    lengths = np.where(at >= 0, np.diff(history.offsets)[np.maximum(at, 0)], 0)
    items = gather_lists(history.items, history.offsets, at[at >= 0])
    known = _known_places(table, history.item_ids, tables["items"], shown.catalogue)
    places = known[items]
    rows = Rows(bounds_of(lengths), places)
    is_kept = np.ones(len(places), dtype=bool)
    n_items = len(shown.catalogue.item_keys)
    candidates = shown.candidates
    others = [Rows(candidates.offsets, shown.items[candidates.items])]
    others += [] if shown.wanted is None else [shown.wanted.rows]
    for other in others:
        _drop_common(*rows, *other, n_items, is_kept)
    kept = bounds_of(is_kept.astype(np.int64))[rows.offsets]
    return Rows(kept, places[is_kept])


@kernel
def _drop_common(
    offsets: IntArray,
    items: IntArray,
    other_offsets: IntArray,
    other_items: IntArray,
    n_items: int,
    is_kept: BoolArray,
) -> None:
    """Take out the items that the same list has among other ones, and those of no catalogue."""
    owner = np.full(n_items + 1, -1, dtype=np.int64)
    for one in range(len(offsets) - 1):
        for row in range(other_offsets[one], other_offsets[one + 1]):
            owner[other_items[row]] = one
        for row in range(offsets[one], offsets[one + 1]):
            if owner[items[row]] == one or items[row] == n_items:
                is_kept[row] = False


@kernel
def _have_common(
    offsets: IntArray,
    items: IntArray,
    other_offsets: IntArray,
    other_items: IntArray,
    n_items: int,
) -> bool:
    """Whether any list has an item of the catalogue that the same list has among other ones."""
    owner = np.full(n_items + 1, -1, dtype=np.int64)
    for one in range(len(offsets) - 1):
        for row in range(offsets[one], offsets[one + 1]):
            owner[items[row]] = one
        for row in range(other_offsets[one], other_offsets[one + 1]):
            if other_items[row] < n_items and owner[other_items[row]] == one:
                return True
    return False
