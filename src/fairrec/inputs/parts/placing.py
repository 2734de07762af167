"""Which part holds a user."""

from __future__ import annotations

import math

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, IntArray
from fairrec.inputs.parts.codes import buckets
from fairrec.inputs.parts.cutting import Cuts

_AT_ONCE = 1 << 20
"""Codes that are looked up together, which takes some times their size."""
_ROOM = 4
"""Numbers that the range of ids may have for each of them, to be looked up by their place."""


class Everyone:
    """All users of the users table, and the part that each of them is in.

    It is fixed by the tables and the size of parts alone. Users whose rows are cut where they are
    stay there, and those without rows come after them; else all are spread by their codes.

    Parameters
    ----------
    known : the codes of all users
    cuts : of predictions or values; None where rows are scattered, or where users share a code
    n_main : rows of predictions or values
    n_rows : of a part

    Attributes
    ----------
    is_audited : (n_users,), those of whom a table has something to audit, as far as seen
    """

    def __init__(self, known: KnownCodes, cuts: Cuts | None, n_main: int, n_rows: int) -> None:
        self._known, n_users = known, len(known.codes)
        self.is_audited: BoolArray = np.zeros(n_users, dtype=bool)
        # of users who share a code, only one is ever found
        self.is_audited[known.repeated] = True
        if cuts is None:
            self.n_parts = math.ceil(max(n_main, n_users) / n_rows)
            self.parts: CodeArray = buckets(known.codes, self.n_parts).astype(np.int32)
            return
        n_cut = len(cuts.rows) - 1
        self.parts = np.full(n_users, -1, dtype=np.int32)
        part_of_head = np.repeat(np.arange(n_cut, dtype=np.int32), np.diff(cuts.users))
        at = self._known.positions(cuts.codes)
        is_known = at >= 0
        self.parts[at[is_known]] = part_of_head[is_known]
        self.is_audited[at[is_known]] = True
        others = np.flatnonzero(self.parts < 0)
        n_last = math.ceil(len(others) / n_rows)
        if n_last:
            self.parts[others] = n_cut + buckets(known.codes[others], n_last)
        self.n_parts = n_cut + n_last

    def place(self, codes: IntArray, are_audited: bool, are_all_kept: bool) -> IntArray:
        """(n_ids,), the part of each id, -1 for a row that no part needs.

        Parameters
        ----------
        are_audited : whether users with these rows are audited
        are_all_kept : whether rows of users without attributes are kept, in some part
        """
        at = self._known.positions(codes)
        is_known = at >= 0
        if are_audited:
            self.is_audited[at[is_known]] = True
        parts = np.where(is_known, self.parts[at], -1)
        if are_all_kept and not is_known.all():
            parts[~is_known] = buckets(codes[~is_known], self.n_parts)
        return parts


class KnownCodes:
    """Codes that can be looked up.

    Numbers close together take 4 bytes for each number of their range; others 8 bytes a user, and
    12 where they do not rise.

    Attributes
    ----------
    codes : as they were given
    repeated : places of codes that are there more than once
    """

    def __init__(self, codes: IntArray) -> None:
        self.codes = codes
        low, high = (int(codes.min()), int(codes.max())) if len(codes) else (0, 0)
        self._low, self._table, self._order = low, None, None
        if high - low < _ROOM * len(codes):
            self._table = np.full(high - low + 2, -1, dtype=np.int32)
            self._table[codes - low] = np.arange(len(codes), dtype=np.int32)
            again = np.flatnonzero(self._table[codes - low] != np.arange(len(codes)))
            self.repeated = np.unique(np.append(again, self._table[codes[again] - low]))
            return
        if not (codes[1:] > codes[:-1]).all():
            self._order = np.argsort(codes, kind="stable").astype(np.int32)
            codes = codes[self._order]
        self._sorted = codes
        again = np.flatnonzero(codes[1:] == codes[:-1])
        again = np.unique(np.append(again, again + 1))
        self.repeated = again if self._order is None else np.sort(self._order[again])

    def positions(self, codes: IntArray) -> IntArray:
        """(n_ids,), the place of each code among those known, -1 where it is not."""
        if self._table is not None:
            # what is outside of the range reads the last slot, which stays -1
            is_near = (codes >= self._low) & (codes - self._low < len(self._table) - 1)
            return self._table[np.where(is_near, codes - self._low, -1)].astype(np.int64)
        found = np.empty(len(codes), dtype=np.int64)
        for start in range(0, len(codes), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            found[some] = self._searched(codes[some])
        return found

    def _searched(self, codes: IntArray) -> IntArray:
        # looked up in their order, neighbours are found in the same place of memory
        order = np.argsort(codes)
        at = np.empty(len(codes), dtype=np.int64)
        at[order] = np.searchsorted(self._sorted, codes[order])
        at[at == len(self._sorted)] = 0
        is_known = self._sorted[at] == codes
        return np.where(is_known, at if self._order is None else self._order[at], -1)
