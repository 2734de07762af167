"""The users table: who they are and which attribute values they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from fairrec.core.arrays import CodeArray, IntArray
from fairrec.core.errors import InputError, UnknownNameError, plain, unknown_name
from fairrec.core.options import spelled
from fairrec.inputs.binning import Binning, bin_numbers, parse_binning
from fairrec.inputs.ids import encode
from fairrec.inputs.tables import Table, ids_as_integers_or_text

Value = bool | int | float | str
MISSING = "(missing)"
"""The value of a user whose attribute is not known: a group of its own, never dropped."""

_LOOKS_CONTINUOUS = 50


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """One entry of `by`: the attribute, the column it is read from, its binning."""

    name: str
    column: str
    binning: Binning | None = None


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of all users: a code per user and the value behind each code.

    Parameters
    ----------
    codes : (n_users,), positions in `values`
    values : in sorted order, `(missing)` last
    """

    name: str
    codes: CodeArray = field(repr=False)
    values: tuple[Value, ...]
    n_missing: int = 0
    binning: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Users:
    """The users table, one row a user, sorted by key so that row order changes nothing.

    Parameters
    ----------
    ids : as they came, for output
    keys : as they are compared: whole numbers where all are, text otherwise
    """

    ids: pl.Series
    keys: pl.Series
    columns: pl.DataFrame
    specs: tuple[AttributeSpec, ...]
    where: str

    def attributes(self, rows: IntArray) -> tuple[Attribute, ...]:
        """The attributes of the users in `rows`."""
        columns = self.columns[rows] if len(rows) < len(self.ids) else self.columns
        return tuple(_encode_attribute(columns[spec.name], spec, self.where) for spec in self.specs)


def read_users(table: Table, by: Sequence[str]) -> Users:
    """The users and the attributes named in `by`."""
    specs = tuple(_parse_spec(text, table) for text in by)
    if not specs:
        example = spelled("by", ["gender", "age"])
        raise InputError(f"No attribute is named. Say which define the groups: {example}")
    names = [spec.name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Attribute '{name}' is named twice in {spelled('by')}. Name it once.")
    user_column = table.require("user_id")
    frame = table.read(
        {"user_id": user_column, **{f"={spec.name}": spec.column for spec in specs}},
        labels=[f"={spec.name}" for spec in specs if spec.binning is None],
    )
    frame = frame.rename({f"={name}": name for name in names if name != "user_id"})
    keys = ids_as_integers_or_text(frame["user_id"], table.where)
    table.refuse_duplicates(keys, user_column, "Keep one row per user.")
    if not keys.is_sorted():
        order = keys.arg_sort()
        frame, keys = frame[order], keys.gather(order)
    # text in CSV may be a number, and a float only stands for one
    ids = keys if table.is_csv or frame["user_id"].dtype.is_float() else frame["user_id"]
    return Users(ids, keys, frame.drop("user_id"), specs, table.where)


def _parse_spec(text: str, table: Table) -> AttributeSpec:
    """`gender`, `age:10`, `income:q5` or `age:18|25`; a column whose name has a colon is taken as it is."""
    column = table.attribute_column(text)
    if column is not None and column == table.find("user_id"):
        raise InputError(f"Attribute '{text}' is the user id itself. Name attributes of users.")
    if column is not None:
        return AttributeSpec(text, column)
    name, colon, binning = text.rpartition(":")
    if colon:
        column = table.attribute_column(name)
        if column is not None:
            return AttributeSpec(name, column, parse_binning(binning, text))
    known = [column for column in table.columns if column != table.find("user_id")]
    error = unknown_name("attribute", name if colon else text, known)
    raise UnknownNameError(f"{table.where}: {error}")


def _encode_attribute(values: pl.Series, spec: AttributeSpec, where: str) -> Attribute:
    if values.dtype.is_decimal():
        values = values.cast(pl.Float64)
    if values.dtype.is_float():
        values = values.fill_nan(None)
        if values.is_infinite().any():
            raise InputError(
                f"{where}: attribute '{plain(spec.name)}' has infinite values. Make them "
                "finite or leave them empty."
            )
    n_missing = values.null_count()
    present = values.drop_nulls() if n_missing else values
    warnings = []
    if spec.binning:
        present_codes, labels = _bin_column(present, spec, where)
        known: list[Value] = list(labels)
        if spec.binning.quantiles and len(labels) < spec.binning.quantiles:
            warnings.append(
                f"attribute '{spec.name}': too few different numbers, so {len(labels)} bins "
                f"instead of the {spec.binning.quantiles} quantiles asked for"
            )
    else:
        present = _as_plain_values(present, spec, where)
        present_codes, distinct = encode(present)
        known = distinct.to_list()
        if present.dtype.is_float() and len(known) > _LOOKS_CONTINUOUS:
            warnings.append(
                f"attribute '{spec.name}' has {len(known):,} different numbers; to group near "
                f"ones, bin it: {spec.name}:q5"
            )
    if not n_missing:
        return _attribute(spec, present_codes, known, 0, warnings)
    if MISSING in known:
        missing_code = known.index(MISSING)
        warnings.append(f"attribute '{spec.name}': the text '{MISSING}' and no value count as one")
    else:
        missing_code = len(known)
        known.append(MISSING)
    codes = np.full(len(values), missing_code, dtype=np.int32)
    codes[values.is_not_null().to_numpy()] = present_codes
    warnings.append(
        f"attribute '{spec.name}' is missing for {n_missing:,} of {len(values):,} users; they form "
        f"the value '{MISSING}'"
    )
    return _attribute(spec, codes, known, n_missing, warnings)


def _as_plain_values(present: pl.Series, spec: AttributeSpec, where: str) -> pl.Series:
    """Whole numbers, true/false and text as such; what is none of them is refused."""
    kind = present.dtype
    if kind.is_float():
        as_whole = present.cast(pl.Int64, strict=False)
        is_whole = not as_whole.null_count() and (as_whole.cast(pl.Float64) == present).all()
        return as_whole if is_whole else present
    if kind.is_numeric() or kind == pl.Boolean:
        return present
    try:
        if not kind.is_nested():
            return present.cast(pl.String)
    except pl.exceptions.PolarsError:
        pass
    raise InputError(
        f"{where}: attribute '{plain(spec.name)}' holds {plain(kind)}. "
        "An attribute has one value a user: text, a whole number or true/false."
    )


def _attribute(
    spec: AttributeSpec,
    codes: CodeArray,
    values: list[Value],
    n_missing: int,
    warnings: list[str],
) -> Attribute:
    binning = spec.binning.in_words if spec.binning else None
    return Attribute(spec.name, codes, tuple(values), n_missing, binning, tuple(warnings))


def _bin_column(present: pl.Series, spec: AttributeSpec, where: str) -> tuple[CodeArray, list[str]]:
    assert spec.binning is not None
    if not present.dtype.is_numeric() and len(present):
        raise InputError(
            f"{where}: attribute '{spec.name}' is not numeric (it holds "
            f"{plain(repr(present[0]))}), so it cannot be binned. "
            f"Name it without the binning: {spelled('by', spec.name)}"
        )
    try:
        return bin_numbers(present.cast(pl.Float64).to_numpy(), spec.binning)
    except InputError as error:
        raise InputError(f"{where}: attribute '{plain(spec.name)}': {error}") from error
