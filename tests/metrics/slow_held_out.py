"""Accuracy against held-out items, over dictionaries: written to be read as definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2, nan
from typing import Any

Items = Sequence[Any]
Gains = Mapping[Any, float]


def hits(items: Items, gains: Gains, k: int) -> list[int]:
    """The places of the held-out items among the first k, from 1."""
    return [place for place, item in enumerate(items[:k], start=1) if item in gains]


def recall(items: Items, gains: Gains, k: int) -> float:
    return len(hits(items, gains, k)) / len(gains)


def precision(items: Items, gains: Gains, k: int) -> float:
    return len(hits(items, gains, k)) / k


def hit(items: Items, gains: Gains, k: int) -> float:
    return 1.0 if hits(items, gains, k) else 0.0


def mrr(items: Items, gains: Gains, k: int) -> float:
    return 1 / hits(items, gains, k)[0] if hits(items, gains, k) else 0.0


def average_precision(items: Items, gains: Gains, k: int) -> float:
    places = hits(items, gains, k)
    return sum((n + 1) / place for n, place in enumerate(places)) / min(k, len(gains))


def ndcg(items: Items, gains: Gains, k: int) -> float:
    gain = sum(gains[items[place - 1]] / log2(place + 1) for place in hits(items, gains, k))
    best = sorted(gains.values(), reverse=True)[:k]
    return gain / sum(one / log2(place + 1) for place, one in enumerate(best, start=1))


SLOW: dict[str, Callable[[Items, Gains, int], float]] = {
    "recall": recall,
    "precision": precision,
    "hit": hit,
    "mrr": mrr,
    "map": average_precision,
    "ndcg": ndcg,
}


def value(name: str, items: Items | None, gains: Gains | None, k: int) -> float:
    """A metric of one user: NaN without held-out items, 0 without a list."""
    return SLOW[name](items or (), gains, k) if gains else nan
