"""The two tables that every library is given, and how they are read.

`python -m tests.metrics.oracles.tables` writes `recommendations.csv`: item-kNN lists of the users
in `tests/inputs/made_by/world`, whose `test.csv` has the held-out items. It needs numpy alone.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.inputs.made_by.world import TEST, TRAIN, write

HERE = Path(__file__).parent
RECOMMENDATIONS = HERE / "recommendations.csv"
HELD_OUT = TEST
LONGEST = 10
NO_LIST = (15, 44)
"""Users with a history who get no list, besides those without a history."""
SHORT_LISTS = {3: 4, 10: 4, 17: 2, 20: 1, 38: 7}
"""Users and the length of their list."""


class Tables(NamedTuple):
    """Lists in the order of their places, and the labels of the held-out items, by user."""

    lists: Mapping[int, list[int]]
    held_out: Mapping[int, dict[int, int]]


def read() -> Tables:
    """Both tables of the small world."""
    lists: dict[int, list[tuple[int, int]]] = {}
    for row in _rows(RECOMMENDATIONS):
        lists.setdefault(int(row["user_id"]), []).append((int(row["rank"]), int(row["item_id"])))
    held_out: dict[int, dict[int, int]] = {}
    for row in _rows(HELD_OUT):
        held_out.setdefault(int(row["user_id"]), {})[int(row["item_id"])] = int(row["rating"])
    return Tables(
        {user: [item for _, item in sorted(mine)] for user, mine in lists.items()}, held_out
    )


def main() -> None:
    """Write the lists of ten and less, their rows in any order."""
    train = [(int(row["user_id"]), int(row["item_id"])) for row in _rows(TRAIN)]
    users, items = (sorted(set(column)) for column in zip(*train, strict=True))
    is_seen = np.zeros((len(users), len(items)))
    for user, item in train:
        is_seen[users.index(user), items.index(item)] = 1
    scores = _item_knn(is_seen)
    rows = []
    for position, user in enumerate(users):
        best = np.argsort(-scores[position], kind="stable")[: SHORT_LISTS.get(user, LONGEST)]
        for rank, item in enumerate(best, start=1):
            if user not in NO_LIST:
                rows.append((user, items[item], round(float(scores[position, item]), 9), rank))
    order = np.random.default_rng(1).permutation(len(rows))
    write(RECOMMENDATIONS, ("user_id", "item_id", "score", "rank"), (rows[i] for i in order))


def _item_knn(is_seen: np.ndarray) -> np.ndarray:
    """(n_users, n_items), the summed cosines to the items seen, which themselves come last."""
    n_seen = is_seen.sum(axis=0)
    cosines = is_seen.T @ is_seen / np.sqrt(np.outer(n_seen, n_seen))
    # what is left equal is told apart by the number of the item, so no library meets a tie
    scores = is_seen @ cosines + np.arange(len(n_seen), 0, -1) * 1e-6
    return np.where(is_seen > 0, -1.0, scores)


def _rows(path: Path) -> Iterable[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        yield from csv.DictReader(stream)


if __name__ == "__main__":
    main()
