"""Every metric of recommendations and held-out items, for one user, as an obvious loop.

A list is the recommended items in the order of their places; `held_out` gives each held-out item
its label, above 0. Items that were never recommended count in the denominators. It needs Python
alone, so that it runs beside any library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2, nan
from typing import Any

Items = Sequence[Any]
Labels = Mapping[Any, float]


def hits(items: Items, held_out: Labels, k: int) -> list[int]:
    """The places of the held-out items among the first k."""
    return [place for place, item in enumerate(items[:k], start=1) if item in held_out]


def recall(items: Items, held_out: Labels, k: int) -> float:
    return len(hits(items, held_out, k)) / len(held_out)


def precision(items: Items, held_out: Labels, k: int) -> float:
    return len(hits(items, held_out, k)) / k


def hit(items: Items, held_out: Labels, k: int) -> float:
    return 1.0 if hits(items, held_out, k) else 0.0


def mrr(items: Items, held_out: Labels, k: int) -> float:
    places = hits(items, held_out, k)
    return 1 / places[0] if places else 0.0


def average_precision(items: Items, held_out: Labels, k: int) -> float:
    places = hits(items, held_out, k)
    total = sum(number / place for number, place in enumerate(places, start=1))
    return total / min(k, len(held_out))


def dcg(labels: Sequence[float], k: int) -> float:
    return sum(label / log2(place + 1) for place, label in enumerate(labels[:k], start=1))


def ndcg(items: Items, held_out: Labels, k: int) -> float:
    ideal = sorted(held_out.values(), reverse=True)
    return dcg([held_out.get(item, 0.0) for item in items], k) / dcg(ideal, k)


DEFINITIONS: Mapping[str, Callable[[Items, Labels, int], float]] = {
    "recall": recall,
    "precision": precision,
    "hit": hit,
    "mrr": mrr,
    "map": average_precision,
    "ndcg": ndcg,
}


def value(name: str, items: Items | None, held_out: Labels | None, k: int) -> float:
    """A metric of one user: NaN without held-out items, 0 without a list."""
    return DEFINITIONS[name](items or (), held_out, k) if held_out else nan
