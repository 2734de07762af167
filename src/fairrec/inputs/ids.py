"""Ids -> positions, without a Python loop and without collisions."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, BoolArray, CodeArray, IntArray
from fairrec.core.errors import InputError, some_of
from fairrec.core.kernels import kernel

_FITS_INT64 = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)
_LOOKUP_ROOM = 1 << 26
"""The widest range of integer ids for which a lookup table is laid out (256 MiB of int32)."""


def comparable(left: pl.Series, right: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Both as they are where their types agree, both as text otherwise."""
    if left.dtype == right.dtype:
        return left, right
    return left.cast(pl.String), right.cast(pl.String)


def whole_or_text(text: pl.Series) -> pl.Series:
    """Int64 where that is just another way to write every text, the text itself otherwise."""
    as_int64 = text.cast(pl.Int64, strict=False)
    is_canonical = as_int64.null_count() == text.null_count() and bool(
        (as_int64.cast(pl.String) == text).all()
    )
    return as_int64 if is_canonical else text


def positions_in(values: pl.Series, keys: pl.Series) -> CodeArray:
    """Position of each value in `keys` (no duplicates), -1 where it is not there.

    >>> positions_in(pl.Series(["b", "x", "a"]), pl.Series(["a", "b"])).tolist()
    [1, -1, 0]
    """
    values, keys = comparable(values, keys)
    if len(keys) and _is_integer(values.dtype):
        low, high = int(keys.min()), int(keys.max())  # type: ignore[arg-type]
        if _has_room(low, high, len(keys) + len(values)):
            return _lookup(_as_int64(values), _as_int64(keys), low, high)
    found = (
        pl.DataFrame({"key": values})
        .lazy()
        .join(
            pl.LazyFrame({"key": keys, "position": np.arange(len(keys), dtype=np.int32)}),
            on="key",
            how="left",
            maintain_order="left",
        )
        .collect()["position"]
    )
    return found.fill_null(-1).to_numpy()


def known_positions(values: pl.Series, keys: pl.Series) -> IntArray:
    """Position of each value in `keys`; a value that is not there is an error."""
    positions = positions_in(values, keys).astype(np.int64)
    if len(positions) and positions.min() < 0:
        unknown = values.filter(pl.Series(positions < 0)).unique(maintain_order=True)
        raise InputError(
            f"{values.name} {some_of(unknown.head(3).to_list(), len(unknown))} is not in the table "
            "it refers to. The tables do not belong together."
        )
    return positions


def encode(values: pl.Series) -> tuple[CodeArray, pl.Series]:
    """Codes from 0 in the order of the sorted distinct values, and those values.

    >>> codes, distinct = encode(pl.Series(["b", "a", "b"]))
    >>> codes.tolist(), distinct.to_list()
    ([1, 0, 1], ['a', 'b'])
    """
    if len(values) and _is_integer(values.dtype) and not values.null_count():
        low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
        if _has_room(low, high, len(values)):
            # a range that fits a table needs neither hashing nor sorting
            codes, is_present = _number(_as_int64(values), low, high - low + 1)
            distinct = pl.Series(values.name, np.flatnonzero(is_present) + low, values.dtype)
            return codes, distinct
    if len(values) and values.dtype == pl.String and not values.null_count():
        return _encode_text(values)
    distinct = values.unique().sort()
    return positions_in(values, distinct), distinct


def _encode_text(texts: pl.Series) -> tuple[CodeArray, pl.Series]:
    """The same for text: each row is hashed once, and only different texts are sorted."""
    numbers, rows = numbered(texts.cast(pl.Categorical))
    rows = rows[texts.gather(rows).arg_sort().to_numpy()]
    code_of_number = np.zeros(int(numbers.max()) + 1, dtype=np.int32)
    code_of_number[numbers[rows]] = np.arange(len(rows), dtype=np.int32)
    return code_of_number[numbers], texts.gather(rows)


def numbered(texts: pl.Series) -> tuple[AnyArray, IntArray]:
    """The numbers by which a categorical column knows its texts, and the first row of each."""
    numbers = texts.to_physical().to_numpy()
    return numbers, _first_rows(numbers, int(numbers.max(initial=0)) + 1)


def _is_integer(kind: pl.DataType) -> bool:
    return kind in _FITS_INT64


def _as_int64(ids: pl.Series) -> IntArray:
    return ids.cast(pl.Int64).to_numpy()


def _has_room(low: int, high: int, n_ids: int) -> bool:
    return high - low < min(_LOOKUP_ROOM, 64 * n_ids)


def _lookup(values: IntArray, keys: IntArray, low: int, high: int) -> CodeArray:
    table = np.full(high - low + 2, -1, dtype=np.int32)
    table[keys - low] = np.arange(len(keys), dtype=np.int32)
    # values outside the range of the keys read the last slot, which stays -1
    slots = np.where((values >= low) & (values <= high), values - low, high - low + 1)
    return table[slots]


@kernel
def _number(ids: IntArray, low: int, n_slots: int) -> tuple[CodeArray, BoolArray]:
    """Codes of ids in the order of the ids, and which numbers from `low` on are ids."""
    is_present = np.zeros(n_slots, dtype=np.bool_)
    for row in range(len(ids)):
        is_present[ids[row] - low] = True
    code_of_slot = np.zeros(n_slots, dtype=np.int32)
    n_codes = 0
    for slot in range(n_slots):
        if is_present[slot]:
            code_of_slot[slot] = n_codes
            n_codes += 1
    codes = np.empty(len(ids), dtype=np.int32)
    for row in range(len(ids)):
        codes[row] = code_of_slot[ids[row] - low]
    return codes, is_present


@kernel
def _first_rows(numbers: AnyArray, n_numbers: int) -> IntArray:
    """The first row of each number that occurs, in the order of these rows."""
    is_met = np.zeros(n_numbers, dtype=np.bool_)
    rows = np.empty(n_numbers, dtype=np.int64)
    n_rows = 0
    for row in range(len(numbers)):
        if not is_met[numbers[row]]:
            is_met[numbers[row]] = True
            rows[n_rows] = row
            n_rows += 1
    return rows[:n_rows]
