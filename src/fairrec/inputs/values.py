"""A number or more for each user, measured by somebody else."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError, UnknownNameError, listed, plain, some_of, unknown_name
from fairrec.core.options import Blank, spelled
from fairrec.inputs.ids import positions_in
from fairrec.inputs.tables import Table


def value_columns(
    table: Table,
    wanted: Sequence[str] | None,
    attributes: Collection[str],
    with_end: Collection[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns named, and those left out because they hold no numbers.

    By default all with numbers are taken that are neither ids nor attributes; of columns that
    were named, none is left out.

    Parameters
    ----------
    with_end : columns of which an end is called better, so that they have to hold numbers
    """
    user_column = table.require("user_id")
    others = [column for column in table.columns if column != user_column]
    if wanted is not None:
        for name in wanted:
            if name not in others:
                raise UnknownNameError(
                    f"{table.where}: {unknown_name('column', name, others)}{table.hint}"
                )
        return tuple(dict.fromkeys(wanted)), ()
    others = [column for column in others if column not in attributes]
    numeric = table.numeric_columns()
    found = tuple(column for column in others if column in numeric)
    left_out = tuple(column for column in others if column not in numeric)
    for name in with_end:
        if name in left_out:
            # raises, because it holds something else
            table.numbers(table.read({f"={name}": name})[f"={name}"], name)
    if not found:
        raise InputError(
            f"{table.where}: no column of numbers beside the ids and attributes. Columns here: "
            f"{listed(table.columns)}. Name those to audit: {spelled('metrics', Blank('COLUMNS'))}"
        )
    return found, left_out


def read_values(
    table: Table, columns: Sequence[str], user_ids: pl.Series, users_where: str
) -> tuple[dict[str, FloatArray], IntArray]:
    """The values of each column, NaN where there is none, and the position of each user.

    Parameters
    ----------
    user_ids : of the users table, in which the positions are
    """
    user_column = table.require("user_id")
    frame = table.read({"user_id": user_column, **{f"={name}": name for name in columns}})
    ids = table.user_keys(frame["user_id"])
    table.refuse_duplicates(ids, user_column, "Keep one row per user.")
    positions = positions_in(ids, user_ids)
    if positions.min(initial=0) < 0:
        unknown = ids.filter(pl.Series(positions < 0))
        raise InputError(
            f"{table.where}: user {some_of(unknown.head(3).to_list(), len(unknown))} not in "
            f"{users_where}. Every user with a value needs a row of attributes there (leave one "
            "empty if it is not known)."
        )
    values = {name: _numbers(frame[f"={name}"], name, table) for name in columns}
    return values, positions.astype(np.int64)


def read_columns(table: Table, columns: Sequence[str]) -> dict[str, FloatArray]:
    """The values of each column, NaN where there is none, whosever they are."""
    frame = table.read({f"={name}": name for name in columns})
    return {name: _numbers(frame[f"={name}"], name, table) for name in columns}


def _numbers(values: pl.Series, column: str, table: Table) -> FloatArray:
    """Float64, NaN for no value; text and infinite values are errors."""
    is_known = values.is_not_null()
    if values.dtype.is_float():
        is_known &= values.is_not_nan().fill_null(value=False)
    if not is_known.any():
        table.doubt(
            f"values of {column}",
            f"{table.where}: column '{plain(column)}' has no value at all. Leave it out: "
            f"{spelled('metrics', Blank('COLUMNS'))}",
        )
        return np.full(len(values), np.nan)
    table.clear(f"values of {column}")
    known = (
        values if values.dtype == pl.String else values.set(~is_known, values.filter(is_known)[0])
    )
    numbers = table.numbers(known, column).to_numpy()
    table.refuse_extreme(numbers, column)
    return np.where(is_known.to_numpy(), numbers, np.nan)
