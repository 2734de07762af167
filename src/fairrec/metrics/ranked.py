"""Ranked lists: the best candidates of every user, in score order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import chunks, map_in_threads
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side import SideData

FEW_LISTS = 256
"""Lists below which a thread costs more than it saves."""


@dataclass(frozen=True)
class RankedLists:
    """Every user's candidates in score order, seen through their first places.

    Equal scores keep the order of the input rows. All arrays have one row a user and `k`
    columns; a list shorter than `k` ends in item -1 and label 0.

    Parameters
    ----------
    candidates : the lists as they came in
    max_k : the deepest place any metric looks at
    side : categories and popularity, where the audit has them
    """

    candidates: CandidateLists
    max_k: int
    side: SideData
    threads: int = 1

    @property
    def n_users(self) -> int:
        """The number of users."""
        return self.candidates.n_users

    @property
    def lengths(self) -> IntArray:
        """(n_users,), number of candidates."""
        return np.diff(self.candidates.offsets)

    @property
    def all_labels(self) -> FloatArray:
        """Labels of all candidates in the flat layout; asking without labels is a bug."""
        if self.candidates.labels is None:
            raise RuntimeError("a metric that reads labels must be registered with needs='labels'")
        return self.candidates.labels

    @cached_property
    def n_relevant(self) -> IntArray:
        """(n_users,), number of relevant items: candidates with a label above 0, or held-out items.

        Held-out items count whether they are candidates or not.
        """
        if self.candidates.held_out is not None:
            return self.candidates.held_out.n_relevant
        counts = np.empty(self.n_users, dtype=np.int64)
        self._in_chunks(_count_relevant, self.all_labels, counts)
        return counts

    def items(self, k: int) -> IntArray:
        """(n_users, k), the items in the first `k` places; -1 past the end of a list."""
        rows = self._best_rows(k)
        if not len(self.candidates.items):
            return rows
        return np.where(rows >= 0, self.candidates.items[rows], -1)

    def labels(self, k: int) -> FloatArray:
        """(n_users, k), their labels; 0 past the end of a list."""
        labels: FloatArray = _labels_at(self._best_rows(k), self.all_labels)
        return labels

    def ideal_labels(self, k: int) -> FloatArray:
        """(n_users, k), the largest labels of each user in falling order, 0 past the end.

        Those of the held-out items where there are any, of the candidates else.
        """
        held_out = self.candidates.held_out
        if held_out is not None:
            return _first_of_each(held_out.offsets, held_out.gains, k)
        labels: FloatArray = _labels_at(self._ideal_rows(k), self.all_labels)
        return labels

    def _best_rows(self, k: int) -> IntArray:
        return self._by_score[:, :k] if k <= self.max_k else self._select(self.candidates.scores, k)

    def _ideal_rows(self, k: int) -> IntArray:
        return self._by_label[:, :k] if k <= self.max_k else self._select(self.all_labels, k)

    # selected once for the deepest place; a metric may look deeper than it was asked to

    @cached_property
    def _by_score(self) -> IntArray:
        return self._select(self.candidates.scores, self.max_k)

    @cached_property
    def _by_label(self) -> IntArray:
        return self._select(self.all_labels, self.max_k)

    def _select(self, keys: FloatArray, k: int) -> IntArray:
        best = np.full((self.n_users, k), -1, dtype=np.int64)
        self._in_chunks(_best_rows, keys, best)
        return best

    def _in_chunks(self, kernel: Callable[..., None], flat: FloatArray, out: AnyArray) -> None:
        """Fill `out`, one row a user, from the users' parts of a flat array."""
        offsets = self.candidates.offsets

        def work(users: slice) -> None:
            kernel(offsets[users.start : users.stop + 1], flat, out[users])

        parts = chunks(self.n_users, self.threads, FEW_LISTS)
        for _ in map_in_threads(work, parts, self.threads):
            pass


def mean_over_places(
    lists: RankedLists, k: int, per_item: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """(n_users,), the mean of what the items in the first k places have, NaN where none has it.

    Parameters
    ----------
    per_item : (n_items,), NaN where it is not known
    weights : (k,), what a place counts; all the same where nothing is said
    """
    values = np.full((lists.n_users, k), np.nan)
    items = lists.items(k)
    is_item = items >= 0
    values[is_item] = per_item[items[is_item]]
    known = ~np.isnan(values)
    weight = known * (np.ones(k) if weights is None else weights)
    total = (np.where(known, values, 0.0) * weight).sum(axis=1)
    n = weight.sum(axis=1)
    undefined = np.full(lists.n_users, np.nan)
    means: FloatArray = np.divide(total, n, out=undefined, where=n > 0)
    return means


@kernel
def _labels_at(rows: IntArray, labels: FloatArray) -> FloatArray:
    """Labels of the rows, 0 past the end of a list."""
    found = np.zeros(rows.shape)
    for user in range(rows.shape[0]):
        for place in range(rows.shape[1]):
            if rows[user, place] >= 0:
                found[user, place] = labels[rows[user, place]]
    return found


@kernel
def _first_of_each(offsets: IntArray, gains: FloatArray, k: int) -> FloatArray:
    """(n_lists, k), the first gains of each list, 0 past its end."""
    found = np.zeros((len(offsets) - 1, k))
    for user in range(len(offsets) - 1):
        for place in range(min(k, offsets[user + 1] - offsets[user])):
            found[user, place] = gains[offsets[user] + place]
    return found


@kernel
def _count_relevant(offsets: IntArray, labels: FloatArray, counts: IntArray) -> None:
    for user in range(len(offsets) - 1):
        n = 0
        for row in range(offsets[user], offsets[user + 1]):
            n += labels[row] > 0
        counts[user] = n


@kernel
def _best_rows(offsets: IntArray, keys: FloatArray, best: IntArray) -> None:
    """Write the rows of the largest keys of each user, in falling order, into `best`.

    A row moves up only past a strictly smaller key, so ties keep the order of the rows.
    """
    k = best.shape[1]
    top = np.empty(k)
    for user in range(len(offsets) - 1):
        held = 0
        for row in range(offsets[user], offsets[user + 1]):
            key = keys[row]
            if held == k and not key > top[k - 1]:
                continue
            place = held if held < k else k - 1
            while place > 0 and key > top[place - 1]:
                best[user, place] = best[user, place - 1]
                top[place] = top[place - 1]
                place -= 1
            best[user, place] = row
            top[place] = key
            held = min(held + 1, k)
