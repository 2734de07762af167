"""The items that could be shown, what has one value each, and what was shown to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.audited_entity import ITEMS, Unit
from fairrec.core.errors import InputError, UnknownNameError, listed, plain, unknown_name
from fairrec.core.options import spell
from fairrec.inputs.candidates import CandidateLists, read_candidates
from fairrec.inputs.held_out import check_hits, read_held_out
from fairrec.inputs.ids import (
    encode,
    find_positions,
    find_runs,
    gather_lists,
    ids_as_integers_or_text,
    list_bounds,
)
from fairrec.inputs.notes import N, Note, Notes, note_items
from fairrec.inputs.side_data import read_history
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Users, read_users, refuse_repeated


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The items table, as what is compared.

    Parameters
    ----------
    units : what has one value each, with its attributes: in the place of users everywhere else
    item_keys : of the items of all units, as they are compared
    unit_of_item : (n_items,), the row of each in `units`
    unit : what they are called
    """

    units: Users
    item_keys: pl.Series
    unit_of_item: IntArray
    unit: Unit = ITEMS
    notes: Notes = ()

    @property
    def n_units(self) -> int:
        """How many have a value each."""
        return len(self.units.ids)

    @property
    def n_items_per_unit(self) -> IntArray:
        """(n_units,)."""
        return np.bincount(self.unit_of_item, minlength=self.n_units)


def read_catalogue(table: Table, by: Sequence[str], unit: str = "") -> Catalogue:
    """The items with the attributes named in `by`, or units of them, which have to agree in these.

    Parameters
    ----------
    unit : the column that names the unit of each item; nothing where each is one by itself
    """
    if not unit:
        items = read_users(table, by)
        return Catalogue(items, items.keys, np.arange(len(items.ids)))
    _refuse_unit(table, by, unit)
    items = read_users(table, [*by, unit])
    refuse_repeated([spec.name for spec in items.specs])
    is_known = items.columns[unit].is_not_null()
    if not is_known.any():
        raise InputError(
            f"{table.where}: column '{plain(unit)}' is empty in every row, so there is no unit. "
            f"Leave out {spell('unit')} to compare items, or name another column."
        )
    codes, ids = encode(ids_as_integers_or_text(items.columns[unit].drop_nulls(), table.where))
    called = Unit.of_column(unit)
    specs = tuple(replace(spec, unit=called) for spec in items.specs if spec.name != unit)
    columns = items.columns.drop(unit).filter(is_known)
    of_units = _shared_attributes(columns, pl.Series("unit of items", codes), ids, table, unit)
    without = f"{N} of {N} items of {table.where} have no '{plain(unit)}' and are left out"
    note = note_items(without, int((~is_known).sum()), len(is_known))
    units = Users(ids, ids, of_units, specs, table.where)
    keys, of_item = items.keys.filter(is_known), codes.astype(np.int64)
    return Catalogue(units, keys, of_item, called, (note,))


def _refuse_unit(table: Table, by: Sequence[str], unit: str) -> None:
    column, item = table.attribute_column(unit), table.find("item_id")
    if column is None:
        known = [name for name in table.columns if name != item]
        raise UnknownNameError(f"{table.where}: {unknown_name('column', unit, known)}{table.hint}")
    if column == item or any(unit in (text, text.rpartition(":")[0]) for text in by):
        raise InputError(
            f"{spell('unit', unit)} is the item id or in {spell('by')}, so units or groups would "
            "be single items or units. Leave it out of one of them."
        )


def _shared_attributes(
    columns: pl.DataFrame, codes: pl.Series, ids: pl.Series, table: Table, unit: str
) -> pl.DataFrame:
    """The attributes of each unit; an error where its items have different values of one."""
    values = columns.group_by(codes).agg(pl.all().unique()).sort(codes.name).drop(codes.name)
    for found in values:
        if (differs := found.list.len() > 1).any():
            at = int(differs.arg_true()[0])
            raise InputError(
                f"{table.where}: {plain(unit)} {plain(repr(ids[at]))} has items with different "
                f"values of '{plain(found.name)}': {listed(sorted(map(str, found[at]))[:3])}. A "
                f"group is made of whole units; leave out {spell('unit')} to compare items, or "
                "name attributes that all items of a unit share."
            )
    return values.select(pl.all().list.first())


class Rows(NamedTuple):
    """Items of lists: list `i` has `items[offsets[i]:offsets[i + 1]]`.

    Parameters
    ----------
    items : positions in the catalogue; the number of its items for one that is not there
    """

    offsets: IntArray
    items: IntArray


class HeldOutItems(NamedTuple):
    """The held-out items of the users of lists, the largest gain first."""

    rows: Rows
    gains: FloatArray


@dataclass(frozen=True, slots=True)
class ExposureLog:
    """Lists of users, and what could have stood in them.

    Parameters
    ----------
    items : (n_item_ids,), the place of each candidate item in the catalogue; the number of its
        items for one that is not there
    is_of_all : whether the lists were chosen from the whole catalogue; else from their candidates
    held_out : None without held-out interactions
    seen : what users had before and were neither shown nor held out; None without a history
    threads : that metrics may use
    made : what metrics have made of it and use again, by name and depth
    """

    candidates: CandidateLists
    catalogue: Catalogue
    items: IntArray
    is_of_all: bool
    held_out: HeldOutItems | None
    seen: Rows | None
    notes: Notes
    threads: int = 1
    n_missed: int = 0
    made: dict[tuple[str, int], Any] = field(default_factory=dict, repr=False)

    @property
    def n_lists(self) -> int:
        """Lists, empty ones too."""
        return self.candidates.n_users

    @property
    def has_relevance(self) -> bool:
        """Whether it is known which items are relevant."""
        return self.held_out is not None or self.candidates.labels is not None


def read_exposure_log(
    tables: Mapping[str, Table], given: TableOptions, catalogue: Catalogue, threads: int = 1
) -> ExposureLog:
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
    filling = f"{N} rows of {table.where} fill lists that are too short, and are left out"
    notes: list[Note | str] = [Note(filling, (n_padding,))]
    items, is_unknown = _locate_items(candidates.item_ids, catalogue, table, tables["items"])
    no_row = f"{N} of {N} items have no row or unit in {tables['items'].where}; "
    n_rows = int(np.bincount(candidates.items, minlength=len(items))[is_unknown].sum())
    keep = f"{table.where}: {no_row}they keep their places ({N} rows) and are in no group"
    notes.append(note_items(keep, int(is_unknown.sum()), len(items), n_rows))
    held_out, seen, n_missed = None, None, 0
    if "test" in tables:
        test = tables["test"]
        held = read_held_out(test, users, table.where, given.relevant, given.gain)
        places, is_unknown = _locate_items(held.item_ids, catalogue, test, tables["items"])
        due = f"{test.where}: {no_row}what is due to them goes to no group"
        notes += [*held.notes, note_items(due, int(is_unknown.sum()), len(places))]
        of_lists = held.take(row_of_list)
        held_out = HeldOutItems(Rows(of_lists.offsets, places[of_lists.items]), of_lists.gains)
        labels = of_lists.labels(candidates.offsets, candidates.items, candidates.item_ids)
        # held-out items of users without a list are missed too
        n_missed = len(held_out.gains) - int(np.count_nonzero(labels)) + held.n_unknown
        notes.append(check_hits(table, test, labels))
    shown = ExposureLog(
        candidates, catalogue, items, is_of_all, held_out, None, (), threads, n_missed
    )
    if "history" in tables and is_of_all:
        seen = _read_seen(tables["history"], tables["items"], users[row_of_list], shown)
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
    return encode(table.user_keys(find_runs(frame["user_id"])[0]))[1]


def _locate_items(
    item_ids: pl.Series, catalogue: Catalogue, table: Table, items: Table
) -> tuple[IntArray, BoolArray]:
    """The place of each item in the catalogue, and whether it has none.

    The number of its items where it has no place. An error where none has a row, as with ids of
    another table.
    """
    at = find_positions(item_ids, catalogue.item_keys).astype(np.int64)
    places = np.where(at < 0, len(catalogue.item_keys), at)
    is_unknown = at < 0
    if len(places) and is_unknown.all():
        raise InputError(
            f"{table.where}: none of its {len(places):,} items is in {items.where}. Items "
            f"there: {listed(catalogue.item_keys.head(3).to_list())}. Check that both tables use "
            "the same item ids."
        )
    return places, is_unknown


def _read_seen(table: Table, of_items: Table, users: pl.Series, shown: ExposureLog) -> Rows:
    """What the user of each list had before, less what was shown or held out all the same."""
    history = read_history(table)
    at = history.users_at(users)
    if (at < 0).all():
        raise InputError(
            f"{table.where}: none of the users with a list has a row there. Check that its user "
            "ids are those of the predictions."
        )
    lengths = np.where(at >= 0, np.diff(history.offsets)[np.maximum(at, 0)], 0)
    items = gather_lists(history.items, history.offsets, at[at >= 0])
    places = _locate_items(history.item_ids, shown.catalogue, table, of_items)[0][items]
    n_lists, n_items = len(at), len(shown.catalogue.item_keys)
    candidates = shown.candidates
    others = [_pairs(candidates.offsets, shown.items[candidates.items])]
    others += [] if shown.held_out is None else [_pairs(*shown.held_out.rows)]
    seen = _pairs(list_bounds(lengths), places).filter(pl.col("item") < n_items)
    seen = seen.join(pl.concat(others), on=["list", "item"], how="anti", maintain_order="left")
    lists = seen["list"].to_numpy()
    return Rows(list_bounds(np.bincount(lists, minlength=n_lists)), seen["item"].to_numpy())


def _pairs(offsets: IntArray, items: IntArray) -> pl.DataFrame:
    """Each list with each of its items."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return pl.DataFrame({"list": owners, "item": items.astype(np.int64)})
