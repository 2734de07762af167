"""Who interacted with what in training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import CodeArray, IntArray
from fairrec.inputs.coded_ids import encode_ids
from fairrec.inputs.flat_lists import runs_of
from fairrec.inputs.ids import comparable, positions_in
from fairrec.inputs.tables import Table


@dataclass(frozen=True, slots=True)
class Interactions:
    """The training interactions, user by user; a pair that comes twice is kept once.

    User `u` has the items `items[offsets[u]:offsets[u + 1]]`, in the order of their codes.

    Parameters
    ----------
    user_ids, item_ids : distinct, sorted
    offsets : (n_users + 1,)
    items : (n_interactions,), positions in `item_ids`
    """

    user_ids: pl.Series
    item_ids: pl.Series
    offsets: IntArray
    items: CodeArray

    def users_at(self, user_ids: pl.Series) -> IntArray:
        """Position of each user here, -1 for one without history."""
        return positions_in(*comparable(user_ids, self.user_ids)).astype(np.int64)

    def items_at(self, item_ids: pl.Series) -> IntArray:
        """Position of each item here, -1 for one nobody interacted with."""
        return positions_in(*comparable(item_ids, self.item_ids)).astype(np.int64)


def history_lengths(table: Table, user_ids: pl.Series) -> IntArray:
    """(n_users,), training interactions of each user, 0 for one who is not in the table."""
    frame = table.read({"user_id": table.require("user_id")})
    users, bounds = runs_of(frame["user_id"])
    owner = positions_in(*comparable(table.user_keys(users), user_ids))
    mine = owner >= 0
    n_per_user = np.bincount(owner[mine], np.diff(bounds)[mine], minlength=len(user_ids))
    return n_per_user.astype(np.int64)


def read_history(table: Table) -> Interactions:
    """The interactions of a table with `user_id` and `item_id`."""
    frame = table.read({name: table.require(name) for name in ("user_id", "item_id")})
    users, user_ids = encode_ids(frame["user_id"], table.where)
    items, item_ids = encode_ids(frame["item_id"], table.where)
    pairs = np.unique(users.astype(np.int64) * len(item_ids) + items)
    n_per_user = np.bincount(pairs // len(item_ids), minlength=len(user_ids))
    offsets = np.concatenate([[0], np.cumsum(n_per_user)]).astype(np.int64)
    return Interactions(user_ids, item_ids, offsets, (pairs % len(item_ids)).astype(np.int32))
