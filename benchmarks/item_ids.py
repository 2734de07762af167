"""How often lists are taken for ones of other item ids, by models on real data.

`python -m benchmarks.item_ids FOLDER ...` reads `interactions.parquet` (`user_id`, `item_id`) of
each folder, holds out a fifth, and prints for each model the share of audits with a warning: with
the ids of the data, and with the numbers that libraries give to items.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.held_out import HeldOut
from fairrec.inputs.ids import encode
from fairrec.inputs.mismatched_ids import compare_item_ids
from fairrec.inputs.tables import Table
from fairrec.scoring.ease import Ease

N_REPEATS = 20
N_USERS = (30, 100, 300, 1000, 10_000)
LENGTHS = (5, 10, 50)


def models(
    users: IntArray, items: IntArray, shape: tuple[int, int], rng: np.random.Generator
) -> Iterator[tuple[str, FloatArray]]:
    """(n_users, n_items), scores of each model."""
    popularity = np.bincount(items, minlength=shape[1]).astype(np.float64)
    ease = Ease.fit(users, items, *shape, 200.0)
    scores = np.asarray(ease.interactions @ ease.weights)
    is_few = np.isin(users, rng.choice(shape[0], shape[0] // 50, replace=False))
    weak = Ease.fit(users[is_few], items[is_few], *shape)
    yield "EASE", scores
    yield "EASE of 2% of the users", np.asarray(ease.interactions @ weak.weights)
    yield "EASE with noise", scores + rng.normal(0, 3 * scores.std(), shape)
    yield "EASE by square root of popularity", scores / np.sqrt(popularity + 1)
    yield "EASE by popularity", scores / (popularity + 1)
    is_rare = popularity < np.quantile(popularity, 0.8)
    yield "EASE of the long tail", np.where(is_rare, scores, -1e9)
    yield "popularity", np.broadcast_to(popularity, shape)
    yield "random", rng.random(shape)
    yield "one random list", np.broadcast_to(rng.random(shape[1]), shape)
    yield "first items", np.broadcast_to(-np.arange(shape[1], dtype=np.float64), shape)
    yield "last items", np.broadcast_to(np.arange(shape[1], dtype=np.float64), shape)
    yield "least popular", np.broadcast_to(-popularity, shape)


def numberings(ids: pl.Series, codes: IntArray, rng: np.random.Generator) -> Mapping[str, AnyArray]:
    """The id that each item has in the table of recommendations."""
    first = np.unique(codes, return_index=True)[1].argsort().argsort()
    found = {"own ids": ids.to_numpy()}
    if ids.dtype.is_integer():
        found |= {"in order": np.arange(len(ids)), "by first row from 1": first + 1}
        found |= {"in any order": rng.permutation(len(ids))}
    return found


def is_warned(
    lists: AnyArray, numbers: AnyArray, held_out: tuple[IntArray, IntArray], ids: pl.Series
) -> bool:
    """Whether these lists get a warning beside what is held out: rows of lists, and items."""
    users, items = held_out
    order = np.argsort(users, kind="stable")
    offsets = np.searchsorted(users[order], np.arange(len(lists) + 1))
    nothing = np.ones(len(lists), dtype=bool)
    table = Table(pl.DataFrame({"user_id": [0], "item_id": [0]}), "test")
    held = HeldOut(offsets, items[order].astype(np.int32), np.ones(len(items)), nothing, ids)
    codes, shown_ids = encode(pl.Series(numbers[lists].ravel()))
    bounds = np.arange(len(lists) + 1) * lists.shape[1]
    rows = np.arange(len(lists))
    labels = held.labels(bounds, codes, shown_ids)
    shown = CandidateLists(bounds, codes, np.zeros(len(codes)), None, shown_ids)
    note = compare_item_ids(table, table, shown, labels, rows, held)
    return "drawn at random" in str(note)


def run(folder: Path, rng: np.random.Generator) -> Iterator[dict[str, object]]:
    """A row for each audit of one data set."""
    pairs = pl.read_parquet(folder / "interactions.parquet", columns=["user_id", "item_id"])
    pairs = pairs.drop_nulls().unique(maintain_order=True)
    users, user_ids = encode(pairs["user_id"])
    items, ids = encode(pairs["item_id"])
    shape = (len(user_ids), len(ids))
    is_test = rng.random(len(users)) < 0.2
    train = users[~is_test].astype(np.int64), items[~is_test].astype(np.int64)
    ways = numberings(ids, items.astype(np.int64), rng)
    for model, scores in models(*train, shape, rng):
        ranked = scores.astype(np.float32)
        ranked[train] = -np.inf
        best = np.argsort(-ranked, axis=1, kind="stable")[:, : max(LENGTHS)]
        for n_users in (n for n in N_USERS if n <= 2 * shape[0]):
            for _ in range(N_REPEATS if n_users < shape[0] else 1):
                some = rng.permutation(shape[0])[:n_users]
                row = np.full(shape[0], -1)
                row[some] = np.arange(len(some))
                mine = is_test & (row[users] >= 0)
                held_out = row[users[mine]], items[mine].astype(np.int64)
                for length in LENGTHS:
                    for way, numbers in ways.items():
                        warned = is_warned(best[some, :length], numbers, held_out, ids)
                        yield {"data": folder.name, "model": model, "ids": way,
                               "users": len(some), "is_warned": warned}  # fmt: skip


if __name__ == "__main__":
    rows = [row for name in sys.argv[1:] for row in run(Path(name), np.random.default_rng(0))]
    table = pl.DataFrame(rows).with_columns(is_own=pl.col("ids") == "own ids")
    share = pl.col("is_warned").mean().round(4)
    pl.Config.set_tbl_rows(-1)
    print(table.filter("is_own").group_by("model").agg(share, n=pl.len()).sort("is_warned"))
    others = table.filter(~pl.col("is_own") & ~pl.col("model").is_in(["random"]))
    print(others.group_by("data", "users").agg(share, n=pl.len()).sort("data", "users"))
    print(
        others.filter(pl.col("users") > 900).group_by("data", "ids").agg(share).sort("data", "ids")
    )
