"""What models are given: columns joined from tables, as typed inputs; and their outputs."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, ScoringError, listed, plain
from fairrec.core.options import Blank, spell
from fairrec.inputs.ids import find_positions, ids_as_integers_or_text
from fairrec.inputs.tables import Table
from fairrec.scoring.model import ModelInput
from fairrec.scoring.options import IDS, Feature


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

    def select(self, names: Collection[str]) -> JoinedFeatures:
        """Those of these names."""
        return JoinedFeatures(
            {name: values for name, values in self.per_user.items() if name in names},
            {name: values for name, values in self.per_item.items() if name in names},
        )


NO_FEATURES = JoinedFeatures()


def join_features(
    features: Sequence[Feature],
    tables: Mapping[str, Table],
    user_ids: pl.Series,
    item_ids: pl.Series,
) -> JoinedFeatures:
    """The values of features for these users and items."""
    parts: dict[str, dict[str, AnyArray]] = {"users": {}, "items": {}}
    for name, id_column, ids in (("users", "user_id", user_ids), ("items", "item_id", item_ids)):
        names = [feature.column for feature in features if feature.table == name]
        if names and name not in tables:
            raise InputError(
                f"{spell('features', f'{name}:{names[0]}')} needs the {name} table. Give "
                f"{spell(name)}."
            )
        if names:
            parts[name] = _read_columns(tables[name], id_column, ids, names)
    return JoinedFeatures(parts["users"], parts["items"])


def _read_columns(
    table: Table, id_column: str, ids: pl.Series, names: list[str]
) -> dict[str, AnyArray]:
    columns = {id_column: table.require(id_column)}
    for name in names:
        column = table.attribute_column(name)
        if column is None and name == "categories":
            column = table.find(name)
        if column is None:
            raise InputError(
                f"{table.where}: no column {plain(repr(name))}, which {spell('features')} asks "
                f"for. Columns here: {listed(table.columns)}."
            )
        columns[f"={name}"] = column
    frame = table.read(columns)
    keys = ids_as_integers_or_text(frame[id_column], table.where)
    table.refuse_duplicates(keys, columns[id_column], "Keep one row for each.")
    rows = pl.Series(find_positions(ids_as_integers_or_text(ids, table.where), keys))
    at = rows.replace(-1, None)
    return {name: _as_array(frame[f"={name}"].gather(at), name, table.where) for name in names}


def _as_array(values: pl.Series, name: str, where: str) -> AnyArray:
    """Whole numbers, numbers, true/false or text; lists as text joined with '|'."""
    kind = values.dtype
    if kind.is_decimal() or kind.is_float():
        return values.cast(pl.Float64).fill_null(np.nan).to_numpy()
    if kind.is_integer() or kind == pl.Boolean:
        if not values.null_count():
            return values.to_numpy()
        return np.array(values.to_list(), dtype=object)
    with suppress(pl.exceptions.PolarsError):
        if isinstance(kind, pl.List | pl.Array):
            values = values.cast(pl.List(pl.String)).list.join("|")
        elif not (kind.is_nested() or kind == pl.Object):
            values = values.cast(pl.String)
    if values.dtype == pl.String:
        return np.array(values.to_list(), dtype=object)
    raise InputError(
        f"{where}: feature {plain(repr(name))} holds {plain(kind)}. Give text, numbers, "
        "true/false, or lists of these."
    )


def is_missing(value: object) -> bool:
    """Whether a feature has no value: None, or NaN among numbers."""
    return value is None or (isinstance(value, float) and math.isnan(value))


DATATYPES: dict[str, Any] = {
    "BOOL": np.bool_,
    **{f"{kind}INT{n}": f"{kind.lower()}int{n}" for kind in ("U", "") for n in (8, 16, 32, 64)},
    **{f"FP{n}": f"float{n}" for n in (16, 32, 64)},
    "BYTES": np.object_,
}
"""Types of tensors by their names in the Open Inference Protocol."""
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
"""Text that is just another way to write a whole number."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """An input or output of a model, as it describes itself.

    Parameters
    ----------
    shape : the first number is that of the pairs; below 1 for any
    """

    name: str
    datatype: str
    shape: tuple[int, ...]

    @property
    def is_column(self) -> bool:
        """Whether it has an axis of length 1 beside that of the pairs."""
        return len(self.shape) == 2

    def __str__(self) -> str:
        return f"{plain(self.name)} {plain(self.datatype)} {list(self.shape)}"


def infer_datatype(values: AnyArray) -> str:
    """The name of the type that values have."""
    names = {"b": "BOOL", "i": "INT64", "u": "UINT64", "f": "FP64"}
    if values.dtype.kind in names:
        return names[values.dtype.kind]
    kinds = {type(value) for value in values.tolist() if value is not None}
    return {bool: "BOOL", int: "INT64"}.get(kinds.pop(), "BYTES") if len(kinds) == 1 else "BYTES"


def fill_inputs(
    specs: Sequence[TensorSpec],
    columns: Mapping[str, AnyArray],
    renamed: Mapping[str, str],
    who: str,
) -> tuple[ModelInput, ...]:
    """What a model that describes its inputs is given for each of them.

    Parameters
    ----------
    columns : one value for each user or item
    renamed : name of an input -> name of the column, where they differ
    who : the model as the subject of a sentence
    """
    refuse_unknown_columns(columns, renamed)
    names = [spec.name for spec in specs]
    for name in renamed:
        if name not in names:
            raise InputError(
                f"{spell('inputs', {name: renamed[name]})}: {who[:1].lower()}{who[1:]} has no "
                f"such input. It has {listed(names)}."
            )
    found: list[ModelInput] = []
    for spec in specs:
        column = renamed.get(spec.name, spec.name)
        if column not in columns:
            raise InputError(
                f"{who} has an input {plain(repr(spec.name))}, but there is no such column. Say "
                f"which it is: {spell('inputs', {spec.name: Blank('COLUMN')})}, or add it: "
                f"{spell('features', f'users:{spec.name}')}. Columns: {listed(columns)}."
            )
        if len(spec.shape) > 2 or (spec.is_column and spec.shape[1] > 1):
            raise InputError(
                f"{who}: its input {plain(spec.name)} has shape {list(spec.shape)}. Only inputs "
                "with one value for each pair can be given."
            )
        found.append(ModelInput(spec.name, column, as_tensor(columns[column], spec, who)))
    used = {*IDS, *(one.column for one in found)}
    if unused := [name for name in columns if name not in used]:
        raise InputError(
            f"{spell('features')}: {who[:1].lower()}{who[1:]} has no input for {listed(unused)}. "
            f"It has {listed(names)}. Leave the feature out, or name its input: "
            f"{spell('inputs', {Blank('NAME'): unused[0]})}"
        )
    return tuple(found)


def refuse_unknown_columns(columns: Collection[str], renamed: Mapping[str, str]) -> None:
    """Refuse a renaming of what is not there."""
    for name, column in renamed.items():
        if column not in columns:
            raise InputError(
                f"{spell('inputs', {name: column})}: there is no column "
                f"{plain(repr(column))}. Columns: {listed(columns)}."
            )


def as_tensor(values: AnyArray, spec: TensorSpec, who: str) -> AnyArray:
    """Values in the type of an input; an error where they do not fit it.

    >>> as_tensor(np.array(["7", "12"], dtype=object), TensorSpec("u", "INT32", (-1,)), "It")
    array([ 7, 12], dtype=int32)
    """
    where = f"{who}: its input {plain(spec.name)} is of type {plain(spec.datatype)}"
    if spec.datatype not in DATATYPES:
        raise InputError(f"{where}. Known: {', '.join(DATATYPES)}.")
    target = np.dtype(DATATYPES[spec.datatype])
    n_missing = sum(value is None for value in values.tolist())
    if n_missing and target.kind != "f":
        raise InputError(
            f"{where} and cannot be missing, but {n_missing:,} of {len(values):,} values are. "
            "Fill them in in the table."
        )
    if target.kind == "O":
        return np.array([str(value) for value in values.tolist()], dtype=object)
    try:
        numbers = values
        if values.dtype.kind == "O":
            numbers = np.array([_as_number(value) for value in values.tolist()])
        with np.errstate(all="ignore"):
            converted = numbers.astype(target)
        if target.kind in "iub" and not np.array_equal(converted, numbers):
            raise ValueError(numbers[converted != numbers].tolist()[0])
    except ValueError as error:
        raise InputError(
            f"{where}, which has no {plain(error)}. Give another column: "
            f"{spell('inputs', {spec.name: Blank('COLUMN')})}"
        ) from error
    return converted


def _as_number(value: Any) -> Any:
    """A number as it is, from text that is a whole number, or NaN for none."""
    if isinstance(value, str):
        if not _WHOLE.fullmatch(value):
            raise ValueError(repr(value))
        return int(value)
    return math.nan if value is None else value


def choose_output(names: Sequence[str], name: str | None, who: str) -> str:
    """Which output holds the scores: the one asked for, the only one, or `score`."""
    looked_for = ("score", "scores") if name is None else (name,)
    found = [one for one in looked_for if one in names]
    if found or (name is None and len(names) == 1):
        return [*found, *names][0]
    which = f"{len(names)} outputs" if name is None else f"no output {plain(repr(name))}"
    raise ScoringError(
        f"{who} has {which} ({listed(names)}). Say which holds the scores: "
        f"{spell('output', Blank('NAME'))}"
    )


def as_array(answer: Any) -> AnyArray:
    """An answer as an array; numbers with a text among them stay numbers, masked ones are none."""
    if isinstance(answer, np.ma.MaskedArray):
        # what lies under the mask is whatever was there
        return np.array(answer.tolist(), dtype=object)
    array = np.asarray(answer)
    if array.dtype.kind in "SU" and not isinstance(answer, np.ndarray):
        return np.asarray(answer, dtype=object)
    return array


def drop_column_axis(scores: Any, n_pairs: int) -> Any:
    """Scores of shape (n, 1) as shape (n,); others as they are."""
    try:
        array = as_array(scores)
    except ValueError:
        # ragged: refused where answers are checked
        return scores
    return array[:, 0] if array.shape == (n_pairs, 1) else array
