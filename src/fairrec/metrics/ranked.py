"""Ranked lists: the best candidates of every user, in score order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from fairrec.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import chunks, map_in_threads
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.order import sort_ties, tie_hashes, tied_rows
from fairrec.inputs.side_data import SideData

T = TypeVar("T")

FEW_LISTS = 256
"""Lists below which a thread costs more than it saves."""


class Ties(NamedTuple):
    """Lists with equal scores in their first places: for each place, the items of its score.

    Any of them may stand there. Nothing is past the end of a list.

    Parameters
    ----------
    lists : (n_tied,), positions of the lists
    size : (n_tied, k), number of items with the score of the place
    n_relevant : (n_tied, k), relevant ones among them
    label : (n_tied, k), the mean of their labels
    """

    lists: IntArray
    size: IntArray
    n_relevant: IntArray
    label: FloatArray


@dataclass(frozen=True)
class RankedLists:
    """Every user's candidates in score order, seen through their first places.

    Equal scores are in an order of their user and item ids, whatever that of the rows. All arrays
    have one row a user and `k` columns; a list shorter than `k` ends in item -1 and label 0.

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
    _made: dict[tuple[str, int], Any] = field(default_factory=dict, init=False, repr=False)

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
        """(n_users,), held-out items, candidates or not; without any, labels above 0."""
        if self.candidates.held_out is not None:
            return self.candidates.held_out.n_relevant
        counts = np.empty(self.n_users, dtype=np.int64)
        self._in_chunks(_count_relevant, self.all_labels, counts)
        return counts

    def are_tied(self, k: int) -> tuple[BoolArray, BoolArray]:
        """(n_users,) each, whether an item in the first `k` places shares its score with another.

        With any candidate; and whether the item in the last of these places does.
        """
        best, marked = self._select(self.candidates.scores, k + 1)
        rows = best[marked]
        scores = self.candidates.scores[rows]
        # nothing is past the end of a list
        is_next = (scores[:, 1:] == scores[:, :-1]) & (rows[:, 1:] >= 0)
        last = np.minimum(self.lengths[marked], k) - 1
        at = np.arange(len(marked))
        is_last = is_next[at, last] | ((last > 0) & is_next[at, last - 1])
        any_tied, at_cutoff = np.zeros((2, self.n_users), dtype=bool)
        any_tied[marked], at_cutoff[marked] = is_next.any(axis=1), is_last
        return any_tied, at_cutoff

    def items(self, k: int) -> IntArray:
        """(n_users, k), the items in the first `k` places; -1 past the end of a list."""
        rows = self._best_rows(k)
        if not len(self.candidates.items):
            return rows
        return np.where(rows >= 0, self.candidates.items[rows], -1)

    def labels(self, k: int) -> FloatArray:
        """(n_users, k), their labels; 0 past the end of a list."""
        return _labels_at(self._best_rows(k), self.all_labels)

    def expected_labels(self, k: int) -> FloatArray:
        """(n_users, k), their labels on average over the orders of equal scores."""
        labels, ties = self.labels(k), self.ties(k)
        labels[ties.lists] = ties.label
        return labels

    def ties(self, k: int) -> Ties:
        """Lists in which items of the first `k` places have equal scores."""
        ties = self._once(self._tied, k)
        at = (ties.size[:, :k] > 1).any(axis=1), slice(k)
        return Ties(ties.lists[at[0]], ties.size[at], ties.n_relevant[at], ties.label[at])

    def ideal_labels(self, k: int) -> FloatArray:
        """(n_users, k), the largest labels of each user in falling order, 0 past the end.

        Those of the held-out items where there are any, of the candidates else.
        """
        held_out = self.candidates.held_out
        if held_out is not None:
            return _first_of_each(held_out.offsets, held_out.gains, k)
        rows = self._once(self._by_label, k)[:, :k]
        return _labels_at(rows, self.all_labels)

    def _once(self, make: Callable[[int], T], k: int) -> T:
        """What is made for the deepest place, once; a metric may look deeper than it was asked."""
        key = make.__name__, max(k, self.max_k)
        if key not in self._made:
            self._made[key] = make(key[1])
        made: T = self._made[key]
        return made

    def _by_label(self, k: int) -> IntArray:
        return self._select(self.all_labels, k)[0]

    def _best_rows(self, k: int) -> IntArray:
        return self._once(self._ranked, k)[0][:, :k]

    def _ranked(self, k: int) -> tuple[IntArray, IntArray]:
        """The rows in the first places, and the lists with equal scores among or just below."""
        candidates = self.candidates
        best, tied = self._select(candidates.scores, k)
        if len(tied):
            rows = candidates.offsets, candidates.scores, candidates.items
            sort_ties(tied, *rows, *tie_hashes(candidates), best)
        return best, tied

    def _tied(self, k: int) -> Ties:
        best, tied = self._once(self._ranked, k)
        size, n_relevant = np.zeros((2, len(tied), k), dtype=np.int64)
        ties = Ties(tied, size, n_relevant, np.zeros((len(tied), k)))
        if len(tied):
            rows = self.candidates.offsets, self.candidates.scores, self.all_labels
            _look_at_ties(*rows, best, tied, size, n_relevant, ties.label)
        return ties

    def _select(self, keys: FloatArray, k: int) -> tuple[IntArray, IntArray]:
        """(n_users, k), rows of the largest keys, and the lists in which some of these are equal.

        Equal to one another or to a key that is left out.
        """
        best = np.full((self.n_users, k), -1, dtype=np.int64)
        is_tied = np.zeros(self.n_users, dtype=bool)
        self._in_chunks(_best_rows, keys, best, is_tied)
        return best, np.flatnonzero(is_tied)

    def _in_chunks(self, kernel: Callable[..., None], flat: FloatArray, *out: AnyArray) -> None:
        """Fill `out`, one row a user, from the users' parts of a flat array."""
        offsets = self.candidates.offsets

        def work(users: slice) -> None:
            kernel(offsets[users.start : users.stop + 1], flat, *(one[users] for one in out))

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
    weights : (k,), the weight of a place; all the same by default
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


def _labels_at(rows: IntArray, labels: FloatArray) -> FloatArray:
    """Labels of the rows, 0 past the end of a list."""
    return np.where(rows >= 0, labels[rows], 0.0) if len(labels) else np.zeros(rows.shape)


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
def _best_rows(offsets: IntArray, keys: FloatArray, best: IntArray, is_tied: BoolArray) -> None:
    """Write the rows of the largest keys of each user, in falling order, into `best`.

    Equal ones keep the order of the rows, and mark the list.
    """
    k = best.shape[1]
    top = np.empty(k)
    for user in range(len(offsets) - 1):
        held, left_out = 0, -np.inf
        for row in range(offsets[user], offsets[user + 1]):
            key = keys[row]
            if held == k:
                left_out = max(left_out, min(key, top[k - 1]))
                if not key > top[k - 1]:
                    continue
            place = held if held < k else k - 1
            while place > 0 and key > top[place - 1]:
                best[user, place] = best[user, place - 1]
                top[place] = top[place - 1]
                place -= 1
            best[user, place] = row
            top[place] = key
            held = min(held + 1, k)
        is_tied[user] = held == k and left_out == top[k - 1]
        for place in range(1, held):
            is_tied[user] |= top[place] == top[place - 1]


@kernel
def _look_at_ties(
    offsets: IntArray,
    scores: FloatArray,
    labels: FloatArray,
    best: IntArray,
    tied: IntArray,
    size: IntArray,
    n_relevant: IntArray,
    label: FloatArray,
) -> None:
    """Write what the items are that may stand in each place of some lists."""
    for at, one in enumerate(tied):
        start, stop = offsets[one], offsets[one + 1]
        place, n = 0, min(best.shape[1], stop - start)
        while place < n:
            rows = tied_rows(scores, best[one], place, start, stop)
            wanted = labels[rows]
            # in one order, so that the sum has the same last digit
            wanted = np.sort(wanted[wanted > 0])
            end = min(place + len(rows), n)
            size[at, place:end] = len(rows)
            n_relevant[at, place:end] = len(wanted)
            label[at, place:end] = wanted.sum() / len(rows)
            place = end
