"""Who interacted with what in training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, CodeArray, IntArray
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.coded_ids import encode_ids
from fairrec.inputs.flat_lists import runs_of
from fairrec.inputs.ids import comparable, positions_in
from fairrec.inputs.notes import CHECK_FIRST
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

    def contains(self, users: IntArray, items: IntArray) -> BoolArray:
        """Whether each pair is an interaction; users and items are positions, -1 for none."""
        n_items = len(self.item_ids)
        owners = np.repeat(np.arange(len(self.user_ids)), np.diff(self.offsets))
        pairs = np.where((users >= 0) & (items >= 0), users * n_items + items, -1)
        return np.isin(pairs, owners * n_items + self.items)


_LEAK, _TIMES = 0.5, 3
"""The share of relevant candidates in a history, and how many times that of others, to tell of."""


def find_leak(
    history: Interactions, candidates: CandidateLists, user_ids: pl.Series, where: str
) -> str:
    """What to check where the history holds what is relevant; empty where it does not.

    Parameters
    ----------
    user_ids : of each list
    """
    labels = candidates.labels
    if labels is None:
        return ""
    users = np.repeat(history.users_at(user_ids), np.diff(candidates.offsets))
    is_known = history.contains(users, history.items_at(candidates.item_ids)[candidates.items])
    is_relevant = labels > 0
    n_known, n_relevant = int((is_known & is_relevant).sum()), int(is_relevant.sum())
    n_others = len(labels) - n_relevant
    of_others = int((is_known & ~is_relevant).sum()) / max(n_others, 1)
    if n_known <= max(_LEAK, _TIMES * of_others) * n_relevant:
        return ""
    return (
        f"{CHECK_FIRST}{n_known / n_relevant:.0%} of the relevant candidates are in their user's "
        f"history in {where}, and {of_others:.0%} of the others. Unless users often choose the "
        "same item again, this history holds what was held out, and a re-ranker that learns from "
        "it is told the answers: give the interactions from before"
    )


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
