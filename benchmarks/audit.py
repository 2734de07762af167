"""The whole command on 267,000 users with 50 candidates each, in four layouts of the table."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from benchmarks import data
from benchmarks.measure import FAIRREC, Child, Row, in_gigabytes, median_run, run_child

MAX_SECONDS = 10
MAX_BYTES = 2e9
MAX_TIMES_USERS = 1.5
LAYOUTS = {
    "rows in any order": ("rows-shuffled.parquet", "users.parquet"),
    "ids as text": ("rows-text.parquet", "users-text.parquet"),
    "one row a user": ("lists.parquet", "users.parquet"),
}
WARM_RUNS = 3


def run(shrink: int) -> Iterator[Row]:
    """The first run and later ones of the plain layout, then later ones of each other layout."""
    # kernels compile once and are kept; a folder of their own shows both the first run and the rest
    shutil.rmtree(_kernels(shrink), ignore_errors=True)
    yield from _rows("first run, kernels compiled", [_audit(shrink, "rows.parquet")])
    yield from _rows("later runs", [_audit(shrink, "rows.parquet") for _ in range(WARM_RUNS)])
    yield _items_beside_users(shrink)
    for what, (predictions, users) in LAYOUTS.items():
        # what this layout alone needs may compile on its first run
        _audit(shrink, predictions, users)
        runs = [_audit(shrink, predictions, users) for _ in range(WARM_RUNS)]
        yield from _rows(f"later runs, {what}", runs)


def _audit(shrink: int, predictions: str, users: str = "users.parquet") -> Child:
    home = data.folder(shrink)
    command = (
        *(FAIRREC, "audit", home / predictions, "--users", home / users),
        *("--by", ",".join(data.ATTRIBUTES), "--metrics", "auc,mrr@5,ndcg@5", "--depth", "3"),
        *("--permutations", "1000", "--out", home / "audit", "--quiet"),
    )
    return run_child(command, environment={"NUMBA_CACHE_DIR": str(_kernels(shrink))})


def _items_beside_users(shrink: int) -> Row:
    """Both sides of one table by three attributes and two metrics, in turns."""
    home = data.folder(shrink)
    sides = {
        "users": ("--users", home / "users.parquet", "--metrics", "ndcg@10,mrr@10"),
        "items": ("--items", home / "items.parquet", "--side", "items"),
    }
    found: dict[str, list[Child]] = {side: [] for side in sides}
    for _ in range(1 + WARM_RUNS):
        for side, by in (("users", data.ATTRIBUTES), ("items", data.ITEM_ATTRIBUTES)):
            command = (
                *(FAIRREC, "audit", home / "rows.parquet", *sides[side], "--depth", "3"),
                *("--by", ",".join(by)),
                *("--permutations", "1000", "--out", home / f"audit-{side}", "--quiet"),
            )
            kernels = {"NUMBA_CACHE_DIR": _kernels(shrink)}
            found[side].append(run_child(command, environment=kernels))
    # the first of each compiles
    (users, of_users), (items, of_items) = (median_run(found[side][1:]) for side in sides)
    what = "items instead of users, later runs: time"
    measured = f"{items / users:.2f} times: {of_items} beside {of_users}"
    # there are as many items however few users
    is_met = items <= MAX_TIMES_USERS * users if shrink == 1 else None
    return Row("audit", what, measured, f"{MAX_TIMES_USERS} times", is_met)


def _kernels(shrink: int) -> str:
    return str((data.folder(shrink) / "kernels").absolute())


def _rows(what: str, runs: list[Child]) -> Iterator[Row]:
    seconds, measured = median_run(runs)
    peak = max(run.peak_bytes for run in runs)
    yield Row("audit", f"{what}: time", measured, f"{MAX_SECONDS} s", seconds <= MAX_SECONDS)
    yield Row("audit", f"{what}: peak", in_gigabytes(peak), "2 GB", peak <= MAX_BYTES)
