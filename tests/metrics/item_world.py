"""Lists, held-out items and histories as plain Python values, and what slow loops make of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.reading import ItemsRead, read_items


@dataclass(frozen=True)
class ItemWorld:
    """Who was shown what, best first; `held_out` has the gain of each item."""

    items: dict[int, dict[str, Any]]
    lists: dict[int, list[int]]
    held_out: dict[int, dict[int, float]]
    seen: dict[int, list[int]]

    def read(self, metrics: str, *, by: str = "kind", history: bool = False, unit: str = ""):
        return _read(self, metrics, by, history, unit)

    def tables(self, history: bool = False) -> dict[str, pl.DataFrame]:
        rows = [(u, i, r) for u, items in self.lists.items() for r, i in enumerate(items, 1)]
        held = [(u, i, g) for u, items in self.held_out.items() for i, g in items.items()]
        tables = {
            "predictions": pl.DataFrame(rows, ["user_id", "item_id", "rank"], orient="row"),
            "test": pl.DataFrame(held, ["user_id", "item_id", "rating"], orient="row"),
            "items": pl.DataFrame([{"item_id": i, **about} for i, about in self.items.items()]),
        }
        if history:
            seen = [(u, i) for u, items in self.seen.items() for i in items]
            tables["history"] = pl.DataFrame(seen, ["user_id", "item_id"], orient="row")
        return tables

    def could_be_shown(self, user: int, item: int, history: bool) -> bool:
        if not history or item not in self.seen.get(user, []):
            return True
        return item in self.lists[user] or item in self.held_out.get(user, {})

    def exposure(self, item: int, k: int, history: bool = False) -> float:
        got = [
            1 / math.log2(shown.index(item) + 2) if item in shown[:k] else 0.0
            for user, shown in self.lists.items()
            if self.could_be_shown(user, item, history)
        ]
        return sum(got) / len(got) if got else math.nan

    def to_relevance(self, item: int, k: int, history: bool = False) -> float:
        """Attention over the mean of all ideal orders, tie group by tie group."""
        received, due = self.received_and_due(item, k, history)
        return received / due if due > 0 else math.nan

    def received_and_due(self, item: int, k: int, history: bool = False) -> tuple[float, float]:
        received = due = 0.0
        for user, shown in self.lists.items():
            wanted = {i: g for i, g in self.held_out.get(user, {}).items() if g > 0}
            if not wanted:
                continue
            n_places = min(k, len(shown))
            if item in shown[:k]:
                received += 1 / math.log2(shown.index(item) + 2)
            could = [i for i in self.items if self.could_be_shown(user, i, history)]
            everything = {**dict.fromkeys(could, 0.0), **wanted}
            if item not in everything:
                continue
            gain = everything[item]
            above = sum(g > gain for g in everything.values())
            tied = sum(g == gain for g in everything.values())
            places = range(above + 1, min(above + tied, n_places) + 1)
            due += sum(1 / math.log2(r + 1) for r in places) / tied
        return received, due


def _read(world: ItemWorld, metrics: str, by: str, history: bool, unit: str) -> ItemsRead:
    tables = world.tables(history)
    lists = tables.pop("predictions")
    return read_items(
        lists,
        TableOptions(**tables, gain="rating", side="items", by=by, unit=unit, metrics=metrics),
    )


def without(world: ItemWorld, user: int) -> ItemWorld:
    """The same if one user had not come."""
    lists, held_out, seen = (
        {who: one for who, one in table.items() if who != user}
        for table in (world.lists, world.held_out, world.seen)
    )
    return ItemWorld(world.items, lists, held_out, seen)


def random_world(seed: int, n_users: int = 12, n_items: int = 15, graded: bool = True) -> ItemWorld:
    rng = np.random.default_rng(seed)
    items = {
        int(i): {"kind": "ab"[i % 2], "provider_id": f"p{i % 4}", "year": 1990 + int(i)}
        for i in range(n_items)
    }
    lists, held_out, seen = {}, {}, {}
    for user in range(n_users):
        order = [int(i) for i in rng.permutation(n_items)]
        lists[user] = order[: rng.integers(1, 7)]
        chosen = [int(i) for i in rng.permutation(n_items)[: rng.integers(0, 5)]]
        gains = rng.integers(1, 3, len(chosen)) if graded else np.ones(len(chosen))
        if chosen:
            held_out[user] = dict(zip(chosen, gains.astype(float).tolist(), strict=True))
        seen[user] = [int(i) for i in rng.permutation(n_items)[: rng.integers(1, 6)]]
    return ItemWorld(items, lists, held_out, seen)
