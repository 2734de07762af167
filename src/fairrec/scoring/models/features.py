"""The columns that a model is given beside the ids, joined from the tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.options import spelled
from fairrec.inputs.ids import ids_as_integers_or_text, positions_in
from fairrec.inputs.tables import Table
from fairrec.scoring.models.feature_names import Feature


@dataclass(frozen=True, slots=True)
class JoinedFeatures:
    """The values of features, one for each user or item; None or NaN where one is missing.

    Parameters
    ----------
    per_user : name -> (n_lists,)
    per_item : name -> (n_items,)
    """

    per_user: Mapping[str, AnyArray] = field(default_factory=dict)
    per_item: Mapping[str, AnyArray] = field(default_factory=dict)

    def among(self, names: Collection[str]) -> JoinedFeatures:
        """Those of these names."""
        return JoinedFeatures(
            {name: values for name, values in self.per_user.items() if name in names},
            {name: values for name, values in self.per_item.items() if name in names},
        )


NO_FEATURES = JoinedFeatures()
_BEYOND_NUMPY = ("Int128", "UInt128")
"""Whole numbers that it has no arrays of; the second is not in all versions of Polars."""


def join_features(
    features: Sequence[Feature],
    tables: Mapping[str, Table],
    user_ids: pl.Series,
    item_ids: pl.Series,
) -> JoinedFeatures:
    """The values of features for these users and items."""
    if not features:
        return NO_FEATURES
    parts: dict[str, dict[str, AnyArray]] = {"users": {}, "items": {}}
    for name, id_column, ids in (("users", "user_id", user_ids), ("items", "item_id", item_ids)):
        wanted = [feature.column for feature in features if feature.table == name]
        if not wanted:
            continue
        if name not in tables:
            raise InputError(
                f"{spelled('features', f'{name}:{wanted[0]}')} needs the {name} table. Give "
                f"{spelled(name)}."
            )
        parts[name] = _columns(tables[name], id_column, ids, wanted)
    return JoinedFeatures(parts["users"], parts["items"])


def _columns(
    table: Table, id_column: str, ids: pl.Series, wanted: list[str]
) -> dict[str, AnyArray]:
    columns = {id_column: table.require(id_column)}
    for name in wanted:
        column = table.attribute_column(name) or (
            table.find(name) if name == "categories" else None
        )
        if column is None:
            raise InputError(
                f"{table.where}: no column {plain(repr(name))}, which {spelled('features')} asks "
                f"for. Columns here: {listed(table.columns)}."
            )
        columns[f"={name}"] = column
    frame = table.read(columns)
    keys = ids_as_integers_or_text(frame[id_column], table.where)
    table.refuse_duplicates(keys, columns[id_column], "Keep one row for each.")
    rows = pl.Series(positions_in(ids_as_integers_or_text(ids, table.where), keys))
    at = rows.replace(-1, None)
    return {name: _as_array(frame[f"={name}"].gather(at), name, table.where) for name in wanted}


def _as_array(values: pl.Series, name: str, where: str) -> AnyArray:
    """Whole numbers, numbers, true/false or text; lists as text joined with '|'."""
    kind = values.dtype
    if kind.is_decimal() or kind.is_float():
        return values.cast(pl.Float64).fill_null(np.nan).to_numpy()
    if kind.is_integer() or kind == pl.Boolean:
        if not values.null_count() and str(kind) not in _BEYOND_NUMPY:
            return values.to_numpy()
        return np.array(values.to_list(), dtype=object)
    try:
        if isinstance(kind, pl.List | pl.Array):
            values = values.cast(pl.List(pl.String)).list.join("|")
        elif not (kind.is_nested() or kind == pl.Object):
            values = values.cast(pl.String)
    except pl.exceptions.PolarsError:
        pass
    if values.dtype == pl.String:
        return np.array(values.to_list(), dtype=object)
    raise InputError(
        f"{where}: feature {plain(repr(name))} holds {plain(kind)}. Give text, numbers, "
        "true/false, or lists of these."
    )
