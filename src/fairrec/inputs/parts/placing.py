"""Which part holds a user."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from fairrec.core.arrays import BoolArray, IntArray
from fairrec.inputs.parts.codes import buckets
from fairrec.inputs.parts.cutting import Cuts

_ROOM = 4
"""Numbers that the range of ids may have for each of them, to be looked up by their place."""


class Places(Protocol):
    """Who is where: fixed by the tables and the size of parts alone."""

    n_parts: int

    def of(self, codes: IntArray) -> IntArray:
        """(n_ids,), the part of each user."""
        ...


class ByHash:
    """Users are spread over parts by their codes, whatever the order of their rows."""

    def __init__(self, n_parts: int) -> None:
        self.n_parts = n_parts

    def of(self, codes: IntArray) -> IntArray:
        """(n_ids,), the part of each user."""
        return buckets(codes, self.n_parts)


class ByCuts:
    """Users are where their rows are; those without rows are in the last parts, by their codes.

    Parameters
    ----------
    n_others : users without rows, who are to be in parts of at most `n_rows`
    """

    def __init__(self, cuts: Cuts, n_others: int, n_rows: int) -> None:
        self.n_cut = len(cuts.rows) - 1
        self.n_last = math.ceil(n_others / n_rows)
        self.n_parts = self.n_cut + self.n_last
        self._known = KnownCodes(cuts.codes)
        self._users = cuts.users

    def of(self, codes: IntArray) -> IntArray:
        """(n_ids,), the part of each user."""
        at = self._known.positions(codes)
        parts = np.searchsorted(self._users, at, side="right") - 1
        others = np.flatnonzero(at < 0)
        if len(others):
            # who is in no table of users either is told by some part
            first, n = (self.n_cut, self.n_last) if self.n_last else (0, self.n_cut)
            parts[others] = first + buckets(codes[others], n)
        return parts


class KnownCodes:
    """Codes that can be looked up.

    Numbers close together take 4 bytes for each number of their range; others 8 bytes a user, and
    16 where they do not rise.
    """

    def __init__(self, codes: IntArray) -> None:
        low, high = (int(codes.min()), int(codes.max())) if len(codes) else (0, 0)
        self._low, self._table, self._order = low, None, None
        if high - low < _ROOM * len(codes):
            self._table = np.full(high - low + 2, -1, dtype=np.int32)
            self._table[codes - low] = np.arange(len(codes), dtype=np.int32)
            return
        if not (codes[1:] > codes[:-1]).all():
            self._order = np.argsort(codes, kind="stable")
            codes = codes[self._order]
        self._codes = codes

    def positions(self, codes: IntArray) -> IntArray:
        """(n_ids,), the place of each code among those known, -1 where it is not."""
        if self._table is not None:
            # what is outside of the range reads the last slot, which stays -1
            at = codes - self._low
            at[(codes < self._low) | (at >= len(self._table) - 1) | (at < 0)] = -1
            return self._table[at].astype(np.int64)
        if not len(self._codes):
            return np.full(len(codes), -1, dtype=np.int64)
        # looked up in their order, neighbours are found in the same place of memory
        order = np.argsort(codes)
        at = np.empty(len(codes), dtype=np.int64)
        at[order] = np.searchsorted(self._codes, codes[order])
        at[at == len(self._codes)] = 0
        is_known = self._codes[at] == codes
        return np.where(is_known, at if self._order is None else self._order[at], -1)

    def has(self, codes: IntArray) -> BoolArray:
        """(n_ids,), which codes are known."""
        return self.positions(codes) >= 0
