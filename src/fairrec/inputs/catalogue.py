"""The items that could be shown, and what has one value each: single items, or their providers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.core.errors import InputError, UnknownNameError, listed, plain, unknown_name
from fairrec.core.options import spelled
from fairrec.core.units import ITEMS, Unit
from fairrec.inputs.ids import encode
from fairrec.inputs.notes import ItemsNote, Notes
from fairrec.inputs.tables import Table, ids_as_integers_or_text
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
    without_unit : keys of the items of no unit, which are in no group
    """

    units: Users
    item_keys: pl.Series
    unit_of_item: IntArray
    unit: Unit = ITEMS
    without_unit: pl.Series = field(default_factory=pl.Series)
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
            f"Leave out {spelled('unit')} to compare items, or name another column."
        )
    codes, ids = encode(ids_as_integers_or_text(items.columns[unit].drop_nulls(), table.where))
    called = Unit.of_column(unit)
    specs = tuple(replace(spec, unit=called) for spec in items.specs if spec.name != unit)
    columns = items.columns.drop(unit).filter(is_known)
    first = np.full(len(ids), len(codes), dtype=np.int64)
    np.minimum.at(first, codes, np.arange(len(codes)))
    for spec in specs:
        _refuse_unlike(columns[spec.name], codes.astype(np.int64), ids, first, table, unit)
    without = f" items of {table.where} have no '{plain(unit)}' and are left out"
    note = ItemsNote(("", " of ", without), (int((~is_known).sum()), len(is_known)))
    units = Users(ids, ids, columns[first], specs, table.where)
    keys, of_item = items.keys.filter(is_known), codes.astype(np.int64)
    return Catalogue(units, keys, of_item, called, items.keys.filter(~is_known), (note,))


def _refuse_unit(table: Table, by: Sequence[str], unit: str) -> None:
    column = table.attribute_column(unit)
    if column is None:
        known = [name for name in table.columns if name != table.find("item_id")]
        raise UnknownNameError(f"{table.where}: {unknown_name('column', unit, known)}{table.hint}")
    if column == table.find("item_id"):
        raise InputError(
            f"{spelled('unit', unit)} is the item id itself. Leave it out: items are compared one "
            "by one."
        )
    if any(unit in (text, text.rpartition(":")[0]) for text in by):
        raise InputError(
            f"'{plain(unit)}' is in {spelled('by')} and is the {spelled('unit')}: each group would "
            "be one unit. Leave it out of one of them."
        )


def _refuse_unlike(
    values: pl.Series,
    codes: IntArray,
    ids: pl.Series,
    first: IntArray,
    table: Table,
    unit: str,
) -> None:
    """An error where items of one unit have different values of an attribute."""
    same = values.eq_missing(values[first][codes])
    if same.all():
        return
    unlike = np.unique(codes[(~same).to_numpy()])
    one = int(unlike[0])
    found = values.filter(pl.Series(codes == one)).unique(maintain_order=True).to_list()
    raise InputError(
        f"{table.where}: {plain(unit)} {plain(repr(ids[one]))} has items with different values of "
        f"'{plain(values.name)}': {listed([str(value) for value in found[:3]])} ({len(unlike):,} "
        f"such in all). A group is made of whole units; leave out {spelled('unit')} to compare "
        "items, or name attributes that all items of a unit share."
    )
