"""Equal scores: an order of their items that depends on ids alone, and on no order of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel

if TYPE_CHECKING:
    from fairrec.inputs.candidates import CandidateLists

_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


def hash_ids(ids: pl.Series) -> AnyArray:
    """(n_ids,), 64 bits of the text of each id: the same in every table, process and version.

    >>> (hash_ids(pl.Series([7, 10])) == hash_ids(pl.Series(["7", "10"]))).tolist()
    [True, True]
    """
    text = ids.cast(pl.String)
    bounds = np.concatenate([[0], np.cumsum(text.str.len_bytes().to_numpy(), dtype=np.int64)])
    packed = str(text.str.join("")[0] or "").encode() if len(text) else b""
    hashes: AnyArray = _hash_texts(np.frombuffer(packed, dtype=np.uint8), bounds)
    return hashes


def hashes_of(lists: CandidateLists) -> tuple[AnyArray, AnyArray]:
    """(n_lists,) and (n_items,), what orders equal scores: of each list's user and each item."""
    if lists.user_ids is None:
        return np.zeros(lists.n_users, dtype=np.uint64), hash_ids(lists.item_ids)
    return hash_ids(lists.user_ids), hash_ids(lists.item_ids)


def rows_in_order(lists: CandidateLists) -> IntArray:
    """(n_candidates,), the rows of each list from the best, equal scores by user and item."""
    rows: IntArray = _sort_rows(lists.offsets, lists.scores, lists.items, *hashes_of(lists))
    return rows


@kernel
def tied_rows(scores: FloatArray, best: IntArray, place: int, start: int, stop: int) -> IntArray:
    """The rows of a list whose score is that in a place.

    Parameters
    ----------
    best : the rows in the first places, in falling order
    start, stop : of the list, which may go on with equal scores below these places
    """
    end, n = place + 1, min(len(best), stop - start)
    while end < n and scores[best[end]] == scores[best[place]]:
        end += 1
    if end < len(best):
        return best[place:end].copy()
    return start + np.flatnonzero(scores[start:stop] == scores[best[place]])


@kernel
def sort_ties(
    tied: IntArray,
    offsets: IntArray,
    scores: FloatArray,
    items: CodeArray,
    user_hashes: AnyArray,
    item_hashes: AnyArray,
    best: IntArray,
) -> None:
    """Put rows of equal scores into the order of their users and items, where lists have some.

    Parameters
    ----------
    tied : positions of lists
    best : (n_lists, k), the rows in the first places of all lists
    """
    for one in tied:
        start, stop = offsets[one], offsets[one + 1]
        place, n = 0, min(best.shape[1], stop - start)
        while place < n:
            rows = tied_rows(scores, best[one], place, start, stop)
            inside = min(len(rows), n - place)
            if len(rows) > 1:
                order = _by_hash(rows, items, user_hashes[one], item_hashes)
                best[one, place : place + inside] = order[:inside]
            place += inside


@kernel
def _sort_rows(
    offsets: IntArray,
    scores: FloatArray,
    items: CodeArray,
    user_hashes: AnyArray,
    item_hashes: AnyArray,
) -> IntArray:
    found = np.arange(len(items))
    for one in range(len(offsets) - 1):
        rows = found[offsets[one] : offsets[one + 1]]
        order = rows[np.argsort(-scores[rows], kind="mergesort")]
        if (np.diff(scores[order]) == 0).any():
            order = _by_hash(rows, items, user_hashes[one], item_hashes)
            order = order[np.argsort(-scores[order], kind="mergesort")]
        found[offsets[one] : offsets[one + 1]] = order
    return found


@kernel
def _by_hash(
    rows: IntArray, items: CodeArray, user_hash: np.uint64, item_hashes: AnyArray
) -> IntArray:
    keys = np.empty(len(rows), dtype=np.uint64)
    for at in range(len(rows)):
        keys[at] = _mixed(user_hash * _FIRST + item_hashes[items[rows[at]]])
    return rows[np.argsort(keys)]


@kernel
def _hash_texts(packed: AnyArray, bounds: IntArray) -> AnyArray:
    """FNV-1a of each text, mixed so that every bit counts."""
    hashes = np.empty(len(bounds) - 1, dtype=np.uint64)
    for at in range(len(hashes)):
        key = _BASIS
        for byte in packed[bounds[at] : bounds[at + 1]]:
            key = (key ^ np.uint64(byte)) * _PRIME
        hashes[at] = _mixed(key)
    return hashes


@kernel
def _mixed(key: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64."""
    key = (key ^ (key >> _30)) * _FIRST
    key = (key ^ (key >> _27)) * _SECOND
    return key ^ (key >> _31)
