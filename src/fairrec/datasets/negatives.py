"""Items a user never interacted with, drawn at random without a Python loop per user."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.kernels import kernel


class NegativeSampler:
    """Draws items that a user never interacted with.

    Parameters
    ----------
    users, items : codes of all interactions, positive or not, of training and targets alike
    """

    def __init__(self, users: IntArray, items: IntArray, n_users: int, n_items: int) -> None:
        order = np.lexsort((items, users))
        self.n_items = n_items
        self.items = items[order].astype(np.int32)
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(users, minlength=n_users))])

    def free(self, user: int) -> CodeArray:
        """All items that a user never interacted with."""
        mine = self.items[self.offsets[user] : self.offsets[user + 1]]
        return np.setdiff1d(np.arange(self.n_items, dtype=np.int32), mine)

    def draw(self, users: IntArray, rng: np.random.Generator) -> CodeArray:
        """One item for each user; a user may appear many times."""
        return self.draw_lists(users, 1, rng)[:, 0]

    def draw_lists(self, users: IntArray, n: int, rng: np.random.Generator) -> CodeArray:
        """(n_rows, n), different items in each row, none the row's user interacted with."""
        n_free = self.n_items - np.diff(self.offsets)[users]
        if len(users) and n_free.min() < n:
            raise InputError(
                f"A user interacted with all but {n_free.min()} of {self.n_items} items, too few "
                f"for {n} sampled others. Ask for fewer candidates or drop that user."
            )
        drawn = np.empty((len(users), n), dtype=np.int32)
        # drawing again would take long for those who know most items
        crowded = n_free < max(2 * n, self.n_items // 10)
        for row in np.flatnonzero(crowded):
            drawn[row] = rng.choice(self.free(users[row]), n, replace=False)
        rows = np.flatnonzero(~crowded)
        drawn[rows] = rng.integers(0, self.n_items, (len(rows), n), dtype=np.int32)
        while len(rows):
            is_bad = _is_known_or_again(users[rows], drawn[rows], self.offsets, self.items)
            where, place = np.nonzero(is_bad)
            drawn[rows[where], place] = rng.integers(0, self.n_items, len(where), dtype=np.int32)
            rows = rows[is_bad.any(axis=1)]
        return drawn


@kernel
def _is_known_or_again(
    users: IntArray, drawn: CodeArray, offsets: IntArray, items: CodeArray
) -> BoolArray:
    """Where a drawn item is one the user knows, or stood earlier in the row."""
    is_bad = np.zeros(drawn.shape, dtype=np.bool_)
    for row in range(len(users)):
        start, stop = offsets[users[row]], offsets[users[row] + 1]
        for place in range(drawn.shape[1]):
            item = drawn[row, place]
            low, high = start, stop
            while low < high:
                middle = (low + high) // 2
                if items[middle] < item:
                    low = middle + 1
                else:
                    high = middle
            is_bad[row, place] = low < stop and items[low] == item
            for earlier in range(place):
                if drawn[row, earlier] == item:
                    is_bad[row, place] = True
    return is_bad
