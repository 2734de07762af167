"""A small synthetic world, from which real libraries made the recommendations in this folder.

`python -m tests.inputs.made_by.world` writes `world/`: `train.csv` and `test.csv` with the
interactions before and after a point in time, and `users.csv` with attributes. numpy alone is
needed, so that any library's environment can make it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TRAIN, TEST, USERS = (HERE / "world" / f"{name}.csv" for name in ("train", "test", "users"))
INTERACTION = ("user_id", "item_id", "rating", "timestamp")
N_USERS = 60
N_ITEMS = 80
N_TASTES = 4
SEED = 20_240_501
SPLIT_TIME = 1_700_000_000
"""Interactions from here on are held out."""
COLD_USERS = (59, 60)
"""They have held-out interactions and nothing before: most libraries recommend them nothing."""
USERS_WITHOUT_TEST = (7, 33)
BUSY_USERS = (5, 12, 21, 40)
"""They hold out more items than a list of ten can show."""


def main() -> None:
    """Write the three tables."""
    rng = np.random.default_rng(SEED)
    TRAIN.parent.mkdir(exist_ok=True)
    users = [
        (user, str(rng.choice(["F", "M"])), int(rng.integers(18, 70)))
        for user in range(1, N_USERS + 1)
    ]
    rows = [row for user, _, _ in users for row in interactions(rng, user)]
    write(USERS, ("user_id", "gender", "age"), users)
    write(TRAIN, INTERACTION, (row for row in rows if row[3] < SPLIT_TIME))
    write(TEST, INTERACTION, (row for row in rows if row[3] >= SPLIT_TIME))


def interactions(rng: np.random.Generator, user: int) -> list[tuple[int, int, int, int]]:
    """What one user did: items of a taste and popular ones more often, no item twice."""
    n_before = 0 if user in COLD_USERS else int(rng.integers(6, 16))
    n_after = int(rng.integers(1, 6))
    if user in BUSY_USERS:
        n_after = int(rng.integers(12, 15))
    if user in USERS_WITHOUT_TEST:
        n_after = 0
    likes = np.exp(-np.arange(N_ITEMS) / 30)
    likes[np.arange(N_ITEMS) % N_TASTES == user % N_TASTES] *= 6
    n = n_before + n_after
    items = rng.choice(N_ITEMS, n, replace=False, p=likes / likes.sum())
    ratings = rng.integers(1, 6, n)
    times = np.r_[
        np.sort(rng.integers(SPLIT_TIME - 10_000_000, SPLIT_TIME, n_before)),
        np.sort(rng.integers(SPLIT_TIME, SPLIT_TIME + 1_000_000, n_after)),
    ]
    return [
        (user, 501 + int(item), int(rating), int(time))
        for item, rating, time in zip(items, ratings, times, strict=True)
    ]


def write(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table as CSV."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
