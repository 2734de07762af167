"""Columns as the typed inputs of a model, and a model's output as one number per pair."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, ScoringError, listed, plain
from fairrec.core.options import Blank, spell
from fairrec.scoring.model import ModelInput
from fairrec.scoring.options import IDS

DATATYPES: dict[str, Any] = {
    "BOOL": np.bool_,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
    "BYTES": np.object_,
}
"""Types of tensors by their names in the Open Inference Protocol."""


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
    """The name of the type that values have.

    >>> infer_datatype(np.array([1, 2])), infer_datatype(np.array(["a"], dtype=object))
    ('INT64', 'BYTES')
    """
    names = {"b": "BOOL", "i": "INT64", "u": "UINT64", "f": "FP64"}
    return names.get(values.dtype.kind) or _datatype_of_objects(values)


def _datatype_of_objects(values: AnyArray) -> str:
    kinds = {type(value) for value in values.tolist() if value is not None}
    if kinds == {bool}:
        return "BOOL"
    return "INT64" if kinds == {int} else "BYTES"


def inputs_for(
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
    found = []
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
    unused = [
        name for name in columns if name not in {one.column for one in found} and name not in IDS
    ]
    if unused:
        raise InputError(
            f"{spell('features')}: {who[:1].lower()}{who[1:]} has no input for "
            f"{listed(unused)}. It has {listed(names)}. Leave the feature out, or say which input "
            f"it is: {spell('inputs', {Blank('NAME'): unused[0]})}"
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
    if spec.datatype not in DATATYPES:
        raise InputError(
            f"{who}: its input {plain(spec.name)} is of type {plain(spec.datatype)}. Known: "
            f"{', '.join(DATATYPES)}."
        )
    target = np.dtype(DATATYPES[spec.datatype])
    is_object = values.dtype.kind == "O"
    missing = np.array([is_object and value is None for value in values], dtype=bool)
    if missing.any() and target.kind == "f":
        values = np.where(missing, np.nan, values)
    elif missing.any():
        raise InputError(
            f"{who}: its input {plain(spec.name)} ({spec.datatype}) cannot be missing, but "
            f"{missing.sum():,} of {len(values):,} values are. Fill them in in the table."
        )
    if target.kind == "O":
        return np.array([_as_text(value) for value in values.tolist()], dtype=object)
    if is_object:
        values = _as_numbers(values, spec, who)
    with np.errstate(all="ignore"):
        converted = values.astype(target)
    if target.kind in "iub" and not np.array_equal(converted, values):
        wrong = values[converted != values].tolist()
        raise InputError(
            f"{who}: its input {plain(spec.name)} is of type {spec.datatype}, which has no "
            f"{plain(repr(wrong[0]))} ({len(wrong):,} such values). Give another column."
        )
    return converted


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _as_numbers(values: AnyArray, spec: TensorSpec, who: str) -> AnyArray:
    """Text that is just another way to write a whole number, as such a number."""
    numbers = []
    for value in values.tolist():
        if isinstance(value, str):
            number = int(value) if value.lstrip("-").isdecimal() else None
            if number is None or str(number) != value:
                raise InputError(
                    f"{who}: its input {plain(spec.name)} is of type {spec.datatype}, but the "
                    f"column holds text, such as {plain(repr(value))}. Give a column of numbers: "
                    f"{spell('inputs', {spec.name: Blank('COLUMN')})}"
                )
            numbers.append(number)
        else:
            numbers.append(value)
    return np.array(numbers)


def chosen_output(names: Sequence[str], wanted: str | None, who: str) -> str:
    """Which output holds the scores: the one asked for, the only one, or `score`."""
    if wanted is not None:
        if wanted in names:
            return wanted
        raise ScoringError(
            f"{who} has no output {plain(repr(wanted))}. It has {listed(names)}; choose by "
            f"{spell('output', Blank('NAME'))}."
        )
    if len(names) == 1:
        return names[0]
    for usual in ("score", "scores"):
        if usual in names:
            return usual
    raise ScoringError(
        f"{who} has {len(names)} outputs ({listed(names)}). Say which holds the scores: "
        f"{spell('output', Blank('NAME'))}"
    )


def as_array(answer: Any) -> AnyArray:
    """An answer as an array; numbers with a text among them stay numbers, masked ones are none.

    >>> as_array([0.5, "x"]).tolist()
    [0.5, 'x']
    """
    if isinstance(answer, np.ma.MaskedArray):
        # what lies under the mask is whatever was there
        return np.array(answer.tolist(), dtype=object)
    array = np.asarray(answer)
    if array.dtype.kind in "SU" and not isinstance(answer, np.ndarray):
        return np.asarray(answer, dtype=object)
    return array


def without_column_axis(scores: Any, n_pairs: int) -> Any:
    """Scores of shape (n, 1) as shape (n,); others as they are."""
    try:
        array = as_array(scores)
    except ValueError:
        # ragged; what is wrong with it is said where answers are checked
        return scores
    return array[:, 0] if array.shape == (n_pairs, 1) else array
