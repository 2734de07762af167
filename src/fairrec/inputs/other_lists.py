"""Other lists of the same users, such as those of another run: what a list is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import CodeArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.inputs.candidates import CandidateLists, read_candidates
from fairrec.inputs.flat_lists import bounds_of, gather_lists
from fairrec.inputs.ids import comparable, positions_in
from fairrec.inputs.notes import RowsNote
from fairrec.inputs.tables import Table
from fairrec.inputs.ties import rows_in_order
from fairrec.inputs.users import Users


@dataclass(frozen=True, slots=True)
class OtherLists:
    """Another ranked list of each user: list `u` has `items[offsets[u]:offsets[u + 1]]`.

    Parameters
    ----------
    offsets : (n_lists + 1,); a user without another list has an empty one
    items : best first, positions among the candidate items; further ones are no candidates of
        anybody
    n_items : items there are, candidates and others
    """

    offsets: IntArray
    items: CodeArray
    n_items: int

    def first(self, k: int) -> IntArray:
        """(n_lists, k), the items in the first k places; -1 past the end of a list."""
        found: IntArray = _first_of_each(self.offsets, self.items, k)
        return found

    def for_lists(self, lists: IntArray) -> OtherLists:
        """The same for some lists, in that order."""
        lengths = self.offsets[lists + 1] - self.offsets[lists]
        items = gather_lists(self.items, self.offsets, lists)
        return OtherLists(bounds_of(lengths), items, self.n_items)


def in_order(lists: CandidateLists) -> OtherLists:
    """All candidates in score order, equal scores by user and item."""
    return OtherLists(lists.offsets, lists.items[rows_in_order(lists)], len(lists.item_ids))


def read_other_lists(
    table: Table, everyone: Users, row_of_list: IntArray, item_ids: pl.Series
) -> tuple[OtherLists, RowsNote]:
    """The lists of the audited users in another table, and how many have none there.

    Parameters
    ----------
    row_of_list : (n_lists,), the row of the users table of each audited list
    item_ids : those of the audited lists
    """
    read, rows, _ = read_candidates(
        table, everyone.keys, everyone.where, needs_labels=False, is_recommended=True
    )
    other = in_order(read)
    # items that nobody has as a candidate come behind those that somebody has
    at = positions_in(*comparable(read.item_ids, item_ids)).astype(np.int64)
    is_new = at < 0
    at[is_new] = len(item_ids) + np.arange(is_new.sum())
    n_items = len(item_ids) + int(is_new.sum())
    # one empty list behind all others is that of whoever has none
    list_of_row = np.full(len(everyone.keys), read.n_users, dtype=np.int64)
    list_of_row[rows] = np.arange(read.n_users)
    offsets = np.concatenate([other.offsets, other.offsets[-1:]])
    items = at[other.items].astype(np.int32)
    found = OtherLists(offsets, items, n_items).for_lists(list_of_row[row_of_list])
    n_without = int((np.diff(found.offsets) == 0).sum())
    words = ("", " of ", f" users have no list in {table.where}, so nothing to compare theirs with")
    return found, RowsNote(words, (n_without, len(row_of_list)))


@kernel
def _first_of_each(offsets: IntArray, items: CodeArray, k: int) -> IntArray:
    found = np.full((len(offsets) - 1, k), -1, dtype=np.int64)
    for user in range(len(offsets) - 1):
        for place in range(min(k, offsets[user + 1] - offsets[user])):
            found[user, place] = items[offsets[user] + place]
    return found
