"""User ids -> 64-bit numbers that are the same in every table, run, machine and version."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fairrec.core.arrays import AnyArray, IntArray
from fairrec.core.kernels import kernel

_LONGEST = 19
"""Digits of the largest number of 64 bits."""


def id_codes(ids: pl.Series) -> IntArray:
    """(n_ids,), a code for each id: a whole number is its own, other text is hashed.

    Ids that some table may take for the same have the same code: 7, 7.0, '7' and '7.0'. Different
    ids may share one as well, so a code only says who may be whom.

    Parameters
    ----------
    ids : not null, of a kind that ids may have

    >>> id_codes(pl.Series(["7", "7.0", "-3"])).tolist()
    [7, 7, -3]
    >>> id_codes(pl.Series(["007", "x"])).tolist()
    [5656221068875067950, -5808529385363204345]
    """
    if ids.dtype.is_numeric():
        whole = ids.cast(pl.Int64, strict=False)
        if not whole.null_count():
            return whole.to_numpy()
    text = ids.cast(pl.String)
    lengths = text.str.len_bytes().to_numpy().astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    joined = text.str.join("").item().encode() if len(text) else b""
    return _text_codes(np.frombuffer(joined, dtype=np.uint8), bounds)


def buckets(codes: IntArray, n_buckets: int) -> IntArray:
    """(n_ids,), from 0 to `n_buckets - 1`, evenly even where codes follow a pattern.

    >>> buckets(np.arange(5), 3).tolist()
    [0, 1, 1, 2, 2]
    """
    # the last steps of SplitMix64: every bit of a code changes every bit of the number
    mixed: npt.NDArray[np.uint64] = codes.view(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed % np.uint64(n_buckets)).astype(np.int64)


@kernel
def _text_codes(text: AnyArray, bounds: IntArray) -> IntArray:
    """The codes of texts that are joined into one."""
    codes = np.empty(len(bounds) - 1, dtype=np.int64)
    for one in range(len(codes)):
        start, stop = bounds[one], bounds[one + 1]
        is_whole, number = _whole(text, start, _without_fraction(text, start, stop))
        if is_whole:
            codes[one] = number
            continue
        hashed = np.uint64(0xCBF29CE484222325)  # FNV-1a
        for at in range(start, stop):
            hashed = (hashed ^ np.uint64(text[at])) * np.uint64(0x100000001B3)
        codes[one] = np.int64(hashed)
    return codes


@kernel
def _without_fraction(text: AnyArray, start: int, stop: int) -> int:
    """Where a text ends without a fraction of nothing: '.0', '.00', ',0'."""
    at = stop
    while at > start and text[at - 1] == ord("0"):
        at -= 1
    n_zeros = stop - at
    if n_zeros and at > start:
        if text[at - 1] == ord("."):
            return at - 1
        if text[at - 1] == ord(",") and n_zeros == 1:
            return at - 1
    return stop


@kernel
def _whole(text: AnyArray, start: int, stop: int) -> tuple[bool, Any]:
    """Whether a text is a whole number of 64 bits as one writes it, and which."""
    is_negative = stop > start and text[start] == ord("-")
    first = start + 1 if is_negative else start
    n_digits = stop - first
    if n_digits < 1 or n_digits > _LONGEST:
        return False, 0
    if text[first] == ord("0") and (n_digits > 1 or is_negative):
        return False, 0
    # below 0, where there is room for one more
    number, least = np.int64(0), np.int64(-(2**63))
    for at in range(first, stop):
        digit = np.int64(text[at]) - np.int64(48)
        if digit < 0 or digit > 9 or number < -922337203685477580:
            return False, 0
        if number * 10 < least + digit:
            return False, 0
        number = number * 10 - digit
    if is_negative:
        return True, number
    return number != least, -number
