"""Columns of the items table that metrics look at: a number for each candidate item.

What a metric asks for stands in its brackets: `price`, a column of numbers, or `pay=high`, which is
1 for items with that value and 0 for others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.inputs.ids import positions_in
from fairrec.inputs.notes import ItemsNote, Note
from fairrec.inputs.side import NO_CATEGORY, as_lists
from fairrec.inputs.tables import Table, ids_as_integers_or_text


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
        of_row = _has_value(values, one, table) if "=" in one else _numbers(values, column, table)
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


def _numbers(values: pl.Series, column: str, table: Table) -> FloatArray:
    """(n_rows,), NaN where there is none."""
    known = values.drop_nulls()
    if values.dtype.is_float():
        known = known.drop_nans()
    if not len(known):
        raise InputError(f"{table.where}: column '{plain(column)}' is empty in every row.")
    numbers = table.numbers(known, column).to_numpy()
    table.refuse_extreme(numbers, column)
    return values.cast(pl.Float64).to_numpy().astype(np.float64)
