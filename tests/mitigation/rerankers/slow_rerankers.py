"""Re-rankers as slow, obvious loops: what each place is worth with each candidate in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from fairrec.mitigation.rerankers.blends import PENALTY
from tests.mitigation.rerank_world import RerankWorld

Value = Callable[[list[int], int], float]
"""Rows chosen so far and a candidate -> what it is worth in the next place."""


def model_order(world: RerankWorld, one: int) -> list[int]:
    """By falling score, ties in the order that metrics see."""
    return world.part(world.lists.by_score, one)


def relevance(world: RerankWorld, one: int) -> dict[int, float]:
    scores = {row: float(world.lists.scores[row]) for row in world.rows(one)}
    low, high = min(scores.values()), max(scores.values())
    return {row: (s - low) / (high - low) if high > low else 0.0 for row, s in scores.items()}


def item_of(world: RerankWorld, row: int) -> int:
    return world.ranked.candidates.item_ids[int(world.lists.items[row])]


def categories_of(world: RerankWorld, row: int) -> frozenset[str]:
    return world.world.categories.get(item_of(world, row), frozenset())


def mmr_value(world: RerankWorld, one: int, strength: float) -> Value:
    """Relevance against the mean Jaccard similarity to the chosen items with categories.

    An item without categories is as similar as those left that have some are on average.
    """
    relevant = relevance(world, one)

    def similarity(row: int, chosen: list[int]) -> float:
        mine = categories_of(world, row)
        theirs = [other for other in (categories_of(world, c) for c in chosen) if other]
        alike = [len(mine & other) / len(mine | other) for other in theirs]
        return sum(alike) / len(alike) if alike else 0.0

    def value(chosen: list[int], row: int) -> float:
        left = [r for r in world.rows(one) if r not in chosen and categories_of(world, r)]
        if categories_of(world, row):
            mean = similarity(row, chosen)
        else:
            mean = sum(similarity(r, chosen) for r in left) / len(left) if left else 0.0
        return (1 - strength) * relevant[row] - strength * mean

    return value


def popularity_value(world: RerankWorld, one: int, strength: float) -> Value | None:
    """Relevance against the distance of the mean popularity from that of the history."""
    counts = Counter(item for _, item in world.world.history)
    percent = {item: 100 * n / len(world.world.history) for item, n in counts.items()}
    own = [percent[item] for owner, item in world.world.history if owner == one]
    if not own or not world.rows(one):
        return None
    wanted = sum(own) / len(own)
    popularity = {row: percent.get(item_of(world, row), 0.0) for row in world.rows(one)}
    largest = max(abs(p - wanted) for p in popularity.values())
    relevant = relevance(world, one)

    def value(chosen: list[int], row: int) -> float:
        mean = sum(popularity[r] for r in [*chosen, row]) / (len(chosen) + 1)
        distance = abs(mean - wanted) / largest if largest else 0.0
        return (1 - strength) * relevant[row] - strength * distance

    return value


GREEDY = {
    "mmr": mmr_value,
    "popularity_calibrated": popularity_value,
}


def scaled(values: list[float]) -> list[float]:
    """Mean 0 and spread 1; all 0 where they are equal but for rounding."""
    if not values or np.std(values) <= 1e-12 * max(map(abs, values)):
        return [0.0] * len(values)
    return [float(v) for v in (np.array(values) - np.mean(values)) / np.std(values)]


def blend_keys(
    world: RerankWorld, one: int, strength: float, opinion: dict[int, float]
) -> dict[int, float]:
    """(1 - strength) * model + strength * opinion for each row of a list."""
    rows = world.rows(one)
    model = scaled([float(world.lists.scores[row]) for row in rows])
    other = scaled([opinion[row] for row in rows])
    keys = [(1 - strength) * m + strength * o for m, o in zip(model, other, strict=True)]
    return dict(zip(rows, keys, strict=True))


def dense_interactions(world: RerankWorld) -> np.ndarray:
    """(n_history_users, n_history_items), 0 or 1."""
    users, items = world.history.user_ids.to_list(), world.history.item_ids.to_list()
    dense = np.zeros((len(users), len(items)))
    for owner, item in world.world.history:
        dense[users.index(owner), items.index(item)] = 1.0
    return dense


def dense_ease(x: np.ndarray, penalty: float) -> np.ndarray:
    """The scores of all users and items, by the formula of the paper on EASE."""
    inverse = np.linalg.inv(x.T @ x + penalty * np.eye(x.shape[1]))
    weights = np.eye(x.shape[1]) - inverse @ np.diag(1 / np.diag(inverse))
    return x @ weights


def second_opinion(world: RerankWorld) -> list[dict[int, float]]:
    """What EASE says of each row of each list; 0 where the history knows no user or item."""
    users, items = world.history.user_ids.to_list(), world.history.item_ids.to_list()
    scores = dense_ease(dense_interactions(world), PENALTY)
    return [
        {
            row: float(scores[users.index(one), items.index(item_of(world, row))])
            if one in users and item_of(world, row) in items
            else 0.0
            for row in world.rows(one)
        }
        for one in range(world.lists.n_lists)
    ]
