"""Tastes: in which proportions the categories come of what each user chose before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.inputs.history import Interactions, read_history
from fairrec.inputs.side import Categories, read_categories
from fairrec.inputs.tables import Table


@dataclass(frozen=True, slots=True)
class Tastes:
    """Category codes and shares of histories: `codes[offsets[t]:offsets[t + 1]]` of taste `t`.

    An item counts with an equal share for each of its categories; the shares of a taste sum to 1.

    Parameters
    ----------
    of_list : (n_lists,), the taste of each list's user, -1 without history
    """

    offsets: IntArray
    codes: CodeArray
    shares: FloatArray
    of_list: IntArray

    @property
    def n_codes(self) -> int:
        """One more than the highest code."""
        return int(self.codes.max(initial=-1)) + 1

    def for_lists(self, lists: IntArray) -> Tastes:
        """The same for some lists, in that order."""
        return replace(self, of_list=self.of_list[lists])


def read_tastes(history: Table, items: Table, user_ids: pl.Series) -> Tastes:
    """The tastes of some users, in the order of their lists."""
    interactions = read_history(history)
    categories, _ = read_categories(items, interactions.item_ids)
    return tastes_of(interactions, categories, interactions.users_at(user_ids))


def tastes_of(history: Interactions, categories: Categories, of_list: IntArray) -> Tastes:
    """The tastes of all users of a history."""
    n_codes = int(categories.codes.max(initial=-1)) + 1
    arrays = (history.offsets, history.items, categories.offsets, categories.codes)
    return Tastes(*_shares(*arrays, n_codes), of_list)


@kernel
def _shares(
    offsets: IntArray,
    items: CodeArray,
    category_offsets: IntArray,
    codes: CodeArray,
    n_codes: int,
) -> tuple[IntArray, CodeArray, FloatArray]:
    n_users = len(offsets) - 1
    bounds = np.zeros(n_users + 1, dtype=np.int64)
    amount = np.zeros(n_codes)
    room = 0
    for user in range(n_users):
        for at in range(offsets[user], offsets[user + 1]):
            room += category_offsets[items[at] + 1] - category_offsets[items[at]]
    found = np.empty(room, dtype=np.int32)
    shares = np.empty(room)
    at_free = 0
    for user in range(n_users):
        start = at_free
        total = 0.0
        for at in range(offsets[user], offsets[user + 1]):
            part = codes[category_offsets[items[at]] : category_offsets[items[at] + 1]]
            for code in part:
                if amount[code] == 0:
                    found[at_free] = code
                    at_free += 1
                amount[code] += 1 / len(part)
                total += 1 / len(part)
        for at in range(start, at_free):
            shares[at] = amount[found[at]] / total
            amount[found[at]] = 0.0
        bounds[user + 1] = at_free
    return bounds, found[:at_free].copy(), shares[:at_free].copy()
