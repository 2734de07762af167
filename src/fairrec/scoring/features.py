"""The columns that a model is given beside the ids, as they are or with another value."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, IntArray
from fairrec.core.errors import InputError, listed, plain, unknown_name
from fairrec.core.options import Blank, spell
from fairrec.inputs.ids import ids_as_integers_or_text, positions_in
from fairrec.inputs.tables import Table
from fairrec.scoring.model import Model
from fairrec.scoring.options import Feature


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
                f"{spell('features', f'{name}:{wanted[0]}')} needs the {name} table. Give "
                f"{spell(name)}."
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
                f"{table.where}: no column {plain(repr(name))}, which {spell('features')} asks "
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


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """The values that users have of some attributes, those of several together.

    Parameters
    ----------
    names : the attributes
    values : one of each attribute, as text; combinations that somebody has
    of_list : (n_lists,), which of them the user of a list has; -1 where one is not known
    example : (n_values,), a list whose user has it
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    of_list: IntArray
    example: IntArray

    def words(self, value: int) -> str:
        """`gender=F, age=25`; a checksum behind them where another value has the same words."""
        pairs = [*zip(self.names, self.values[value], strict=True)]
        said = ", ".join(f"{plain(name)}={plain(one)}" for name, one in pairs)
        if all(_is_told_whole(*pair, is_alone=len(pairs) == 1) for pair in pairs):
            return said
        return f"{said} ({sha256(json.dumps(pairs).encode()).hexdigest()[:8]})"

    def position(self, wanted: Mapping[str, str]) -> int:
        """Which of them this one is; an error where nobody has it.

        A value that nobody has is none that the model can have learned anything about.
        """
        if {*wanted} != {*self.names}:
            example = dict.fromkeys(self.names, Blank("VALUE"))
            raise InputError(
                f"{spell('reference')} is a value of each attribute that is changed, and of no "
                f"other: {spell('reference', example)}"
            )
        found: tuple[str, ...] = ()
        for at, name in enumerate(self.names):
            known = list(dict.fromkeys(one[at] for one in self.values))
            value = wanted[name] if wanted[name] in known else _same_number(wanted[name], known)
            if value is None:
                why = unknown_name(f"value of {plain(name)}", wanted[name], known)
                raise InputError(f"{spell('reference', wanted)}: {why}")
            found = (*found, value)
        if found not in self.values:
            raise InputError(
                f"{spell('reference', wanted)}: no user has these values together, so the model "
                "has never seen them. Name others."
            )
        return self.values.index(found)


def _same_number(wanted: str, known: Sequence[str]) -> str | None:
    """The value that is this number as a number column has it, 50.0 for 50; None for no such."""
    try:
        as_known = str(float(wanted))
    except ValueError:
        return None
    return as_known if as_known in known else None


def refuse_unseen(model: Model, names: Sequence[str], users: Table | None = None) -> None:
    """An error for an attribute that the model is never given, so that nothing could change.

    Parameters
    ----------
    users : the table with the attributes; None for the model's own
    """
    given = [one.column for one in model.features if one.table == "users"]
    for name in names:
        if name in given:
            continue
        if users is not None and users.attribute_column(name) is None:
            known = [column for column in users.columns if column != users.find(users.key)]
            error = unknown_name("column", name, known)
            raise InputError(f"{spell('attribute', [name])}: {users.where}: {error}{users.hint}")
        what = f"only {listed(given)} of its users" if given else "the ids of its users alone"
        raise InputError(
            f"{spell('attribute', [name])}: {model.who[:1].lower()}{model.who[1:]} is given "
            f"{what}, so {plain(name)} itself cannot change anything; what it knows of it by other "
            "ways shows in an audit. If the model takes it, give it: "
            f"{spell('features', f'users:{plain(name)}')} (a run is given what it was trained "
            "with)"
        )


def values_of(features: JoinedFeatures, names: Sequence[str]) -> AttributeValues:
    """The values of attributes among the users of lists, in order."""
    codes, texts = zip(*(_coded(features.per_user[name]) for name in names), strict=True)
    stacked = np.stack(codes)
    is_known = (stacked >= 0).all(axis=0)
    of_list = np.full(stacked.shape[1], -1, dtype=np.int64)
    together, first, mine = np.unique(
        stacked[:, is_known], axis=1, return_index=True, return_inverse=True
    )
    of_list[is_known] = mine.ravel()
    values = tuple(
        tuple(texts[at][code] for at, code in enumerate(one)) for one in together.T.tolist()
    )
    return AttributeValues(tuple(names), values, of_list, np.flatnonzero(is_known)[first])


def with_value(features: JoinedFeatures, values: AttributeValues, value: int) -> JoinedFeatures:
    """The same features with everybody having this value, and all else equal."""
    example = values.example[value]
    changed = {
        name: np.repeat(column[example : example + 1], len(column))
        for name, column in features.per_user.items()
        if name in values.names
    }
    return replace(features, per_user={**features.per_user, **changed})


def is_missing(value: object) -> bool:
    """Whether a feature has no value: None, or NaN among numbers."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _is_told_whole(name: str, value: str, *, is_alone: bool) -> bool:
    """Whether a name and a value can be read back from their words."""
    is_shown = plain(name) == name and plain(value) == value
    return is_shown and "=" not in name and (is_alone or "," not in value)


def _coded(column: AnyArray) -> tuple[IntArray, list[str]]:
    """The number of each value, -1 where there is none, and all of them as text in their order."""
    given = [None if is_missing(one) else one for one in column.tolist()]
    known = {one for one in given if one is not None}
    try:
        ordered = sorted(known)
    except TypeError:
        ordered = sorted(known, key=str)
    code = {one: at for at, one in enumerate(ordered)}
    codes = np.array([-1 if one is None else code[one] for one in given], dtype=np.int64)
    return codes, [str(one) for one in ordered]
