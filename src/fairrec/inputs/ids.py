"""Ids -> codes and positions, and lists of them in one flat array, without a Python loop."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, CodeArray, IntArray
from fairrec.core.errors import InputError, list_some

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


def find_positions(values: pl.Series, keys: pl.Series) -> CodeArray:
    """Position of each value in `keys` (no duplicates), -1 where it is not there.

    >>> find_positions(pl.Series(["b", "x", "a"]), pl.Series(["a", "b"])).tolist()
    [1, -1, 0]
    """
    values, keys = comparable(values, keys)
    if len(keys) and values.dtype in _FITS_INT64:
        low, high = int(keys.min()), int(keys.max())  # type: ignore[arg-type]
        if _has_room(low, high, len(keys) + len(values)):
            table = np.full(high - low + 2, -1, dtype=np.int32)
            table[keys.cast(pl.Int64).to_numpy() - low] = np.arange(len(keys), dtype=np.int32)
            # values outside the range of the keys read the last slot, which stays -1
            wanted = values.cast(pl.Int64).to_numpy()
            found: CodeArray = table[
                np.where((wanted >= low) & (wanted <= high), wanted, high + 1) - low
            ]
            return found
    positions = (
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
    return positions.fill_null(-1).to_numpy()


def known_positions(values: pl.Series, keys: pl.Series) -> IntArray:
    """Position of each value in `keys`; a value that is not there is an error."""
    positions = find_positions(values, keys).astype(np.int64)
    if len(positions) and positions.min() < 0:
        unknown = values.filter(pl.Series(positions < 0)).unique(maintain_order=True)
        raise InputError(
            f"{values.name} {list_some(unknown.head(3).to_list(), len(unknown))} is not in the "
            "table it refers to. The tables do not belong together."
        )
    return positions


def encode(values: pl.Series) -> tuple[CodeArray, pl.Series]:
    """Codes from 0 in the order of the sorted distinct values, and those values.

    >>> codes, distinct = encode(pl.Series(["b", "a", "b"]))
    >>> codes.tolist(), distinct.to_list()
    ([1, 0, 1], ['a', 'b'])
    """
    if len(values) and values.dtype in _FITS_INT64 and not values.null_count():
        low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
        if _has_room(low, high, len(values)):
            # a range that fits a table needs neither hashing nor sorting
            slots = values.cast(pl.Int64).to_numpy() - low
            is_present = np.zeros(high - low + 1, dtype=bool)
            is_present[slots] = True
            codes = (np.cumsum(is_present, dtype=np.int32) - np.int32(1))[slots]
            return codes, pl.Series(values.name, np.flatnonzero(is_present) + low, values.dtype)
    distinct = values.unique().sort()
    if values.dtype == pl.String and not values.null_count():
        codes = values.cast(pl.Enum(distinct)).to_physical()
        return codes.cast(pl.Int32).to_numpy(), distinct
    return find_positions(values, distinct), distinct


def _has_room(low: int, high: int, n_ids: int) -> bool:
    return high - low < min(_LOOKUP_ROOM, 64 * n_ids)


def encode_ids(ids: pl.Series, where: str) -> tuple[CodeArray, pl.Series]:
    """Codes from 0 in the order of the sorted distinct ids, and those ids as they are compared."""
    return encode(ids_as_integers_or_text(ids, where))


def list_bounds(lengths: IntArray) -> IntArray:
    """Where each list begins and ends: list `i` is `bounds[i]:bounds[i + 1]`.

    >>> list_bounds(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def find_runs(values: pl.Series) -> tuple[pl.Series, IntArray]:
    """The value of each run of equal rows, and the bounds of the runs.

    Most tables are written user by user, so there are far fewer runs of users than rows to look up.

    >>> values, bounds = find_runs(pl.Series(["a", "a", "b", "a"]))
    >>> values.to_list(), bounds.tolist()
    (['a', 'b', 'a'], [0, 2, 3, 4])
    """
    runs = values.rle().struct
    return runs.field("value"), list_bounds(runs.field("len").to_numpy())


def gather_lists(flat: AnyArray, offsets: IntArray, lists: IntArray) -> AnyArray:
    """The parts of a flat array that belong to some lists, one after the other.

    For all lists in their order that is the array itself, not to be written to.

    >>> gather_lists(np.array([5, 6, 7, 8]), np.array([0, 1, 3, 4]), np.array([2, 1])).tolist()
    [8, 6, 7]
    """
    if len(lists) == len(offsets) - 1 and np.array_equal(lists, np.arange(len(lists))):
        whole = flat[:]
        whole.flags.writeable = False
        return whole
    lengths = offsets[lists + 1] - offsets[lists]
    starts = np.repeat(offsets[lists] - list_bounds(lengths)[:-1], lengths)
    return flat[starts + np.arange(len(starts))]


_WHOLE = r"^(0|-?[1-9]\d*)(\.0+|,0)?$"
"""A whole number, perhaps with a fraction of nothing; '1,000' is a thousand."""


def ids_as_integers_or_text(ids: pl.Series, where: str) -> pl.Series:
    """Ids as Int64 where all are whole numbers that fit, as text otherwise.

    So the same ids are the same, and in the same order, whatever table they come from: CSV has
    text only, and pandas turns whole numbers with a gap into floats. Text such as '007' is
    no whole number, or it would be mistaken for '7'.
    """
    kind = ids.dtype
    if kind.is_float():
        return _whole_floats(ids, where)
    if kind.is_nested():
        raise InputError(f"{where}: ids are of type {kind}. Ids must be whole numbers or text.")
    if kind.is_integer():
        as_int64 = ids.cast(pl.Int64, strict=False)
        return ids.cast(pl.String) if as_int64.null_count() > ids.null_count() else as_int64
    try:
        text = ids.cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{where}: ids are of type {kind} and not all are text. Ids must be whole numbers or "
            "text."
        ) from error
    # '1.0' is 1 where all are whole; most text shows in a few values that it is no number
    if all(part.str.contains(_WHOLE).all() for part in (text.head(100), text)):
        whole = whole_or_text(text.str.replace(r"(\.0+|,0)$", ""))
        return whole if whole.dtype == pl.Int64 else text
    return whole_or_text(text)


def _whole_floats(ids: pl.Series, where: str) -> pl.Series:
    whole = ids.cast(pl.Int64, strict=False)
    is_whole = (whole.cast(pl.Float64) == ids.cast(pl.Float64)).fill_null(value=False)
    if not is_whole.all():
        raise InputError(
            f"{where}: ids are fractions ({ids.filter(~is_whole)[0]!r}, ...). Ids must be whole "
            "numbers or text."
        )
    # up to this power every whole number is a float of its own
    power = 53 if ids.dtype == pl.Float64 else 24
    if (whole.abs() > 2**power).any():
        raise InputError(
            f"{where}: ids are floats beyond 2^{power} (such as {ids.max()!r}), where neighbours "
            "cannot be told apart any more. Store them as whole numbers or text."
        )
    return whole
