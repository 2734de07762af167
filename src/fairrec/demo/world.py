"""Seeded worlds of any size, in which one group can be hard to serve, or none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.demo.world_options import WorldOptions


@dataclass(frozen=True, slots=True)
class World:
    """Users, items with categories, and who chose what: `user_id`, `item_id`, `time`."""

    interactions: pl.DataFrame
    users: pl.DataFrame
    items: pl.DataFrame


def make_world(options: WorldOptions) -> World:
    """A world in which users choose by popularity and by taste for two categories."""
    rng = np.random.default_rng(options.seed)
    attributes = {}
    for name, shares in options.attributes.items():
        weights = np.array([*shares.values()], dtype=np.float64)
        attributes[name] = rng.choice(list(shares), options.n_users, p=weights / weights.sum())
    is_worse = np.full(options.n_users, bool(options.worse_served))
    for name, value in (options.worse_served or {}).items():
        is_worse &= attributes[name] == value
    catalogue = _Catalogue(options, rng)
    users, items = _choices(options, catalogue, is_worse, rng)
    n_digits = len(str(max(options.n_users, options.n_items)))
    user_ids = pl.Series([f"u{number:0{n_digits}d}" for number in range(options.n_users)])
    item_ids = pl.Series([f"i{number:0{n_digits}d}" for number in range(options.n_items)])
    interactions = pl.DataFrame(
        {
            "user_id": user_ids.gather(users),
            "item_id": item_ids.gather(items),
            "is_positive": np.ones(len(users), dtype=bool),
            # a random order, so that the last choice is like any other
            "time": rng.permutation(len(users)),
        }
    )
    return World(
        interactions=interactions,
        users=pl.DataFrame({"user_id": user_ids, **attributes}),
        items=pl.DataFrame({"item_id": item_ids, "categories": catalogue.labels()}),
    )


class _Catalogue:
    """Items sorted by their first category, so that a category is a range of positions."""

    def __init__(self, options: WorldOptions, rng: np.random.Generator) -> None:
        n, n_categories = options.n_items, options.n_categories
        self.first = np.sort(
            np.concatenate(
                [np.arange(n_categories), rng.integers(n_categories, size=n - n_categories)]
            )
        )
        self.second = rng.integers(n_categories, size=n)
        self.has_second = (rng.random(n) < 0.3) & (self.second != self.first)
        self.bounds = np.searchsorted(self.first, np.arange(n_categories + 1))
        rank = rng.permutation(n) + 1.0
        self.popular = np.concatenate([[0.0], np.cumsum(rank**-options.skew)])
        # the other end: what few choose, few indeed
        self.unpopular = np.concatenate([[0.0], np.cumsum(rank**options.skew)])

    def draw(
        self, start: IntArray, stop: IntArray, weights: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        """One item from each range of positions, by cumulative weights."""
        low, high = weights[start], weights[stop]
        point = low + rng.random(len(start)) * (high - low)
        return np.clip(np.searchsorted(weights, point, side="right") - 1, start, stop - 1)

    def labels(self) -> list[list[str]]:
        """Categories of each item as text."""
        return [
            [f"category{a}", f"category{b}"] if two else [f"category{a}"]
            for a, b, two in zip(self.first, self.second, self.has_second, strict=True)
        ]


def _choices(
    options: WorldOptions, catalogue: _Catalogue, is_worse: BoolArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Users and the items they chose, each pair once."""
    n_chosen = np.maximum(3, rng.poisson(options.interactions, options.n_users))
    users = np.repeat(np.arange(options.n_users), n_chosen)
    n, worse = len(users), is_worse[users]
    is_set_apart = worse & (rng.random(n) < options.strength)
    favourites = rng.integers(options.n_categories, size=(options.n_users, 2))
    by_taste = rng.random(n) < options.taste
    which = rng.integers(2, size=n)
    if options.gap == "diversity":
        by_taste |= is_set_apart
        which[is_set_apart] = 0
    elif options.gap == "accuracy":
        by_taste &= ~is_set_apart
    category = favourites[users, which]
    start = np.where(by_taste, catalogue.bounds[category], 0)
    stop = np.where(by_taste, catalogue.bounds[category + 1], options.n_items)
    items = catalogue.draw(start, stop, catalogue.popular, rng)
    if options.gap == "accuracy":
        items[is_set_apart] = rng.integers(options.n_items, size=int(is_set_apart.sum()))
    elif options.gap == "popularity":
        niche = catalogue.draw(start[is_set_apart], stop[is_set_apart], catalogue.unpopular, rng)
        items[is_set_apart] = niche
    pairs = np.unique(users * np.int64(options.n_items) + items)
    return pairs // options.n_items, pairs % options.n_items
