"""Places filled one after the other, each by relevance and what the list lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fairrec.core.arrays import AnyArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.metrics.beyond_accuracy import jaccard
from fairrec.mitigation.reranker import Orders, RerankLists, TrainingSet, reranker


def _orders_by(fill: Callable[..., None], lists: RerankLists, *arrays: Any) -> Orders:
    """Orders in which a kernel moves the best of what is left to each of the first k places."""

    def order(strength: float) -> IntArray:
        new = lists.by_score.copy()
        weights = (lists.k, 1 - strength, strength)
        lists.in_chunks(fill, lists.items, lists.relevance, *arrays, *weights, new)
        return new

    return order


@kernel
def _move_up(values: AnyArray, start: int, end: int) -> Any:
    """Put the value of one place before those above it, which move down by one; the value."""
    value = values[start]
    for at in range(start, end, -1):
        values[at] = values[at - 1]
    values[end] = value
    return value


@reranker(
    "mmr",
    "relevance against similarity to the items chosen",
    serves=("urd", "ild"),
    needs=("items",),
)
class Mmr:
    """Fills each place by relevance minus mean Jaccard similarity (Carbonell 1998)."""

    def __init__(self, _training: TrainingSet) -> None:
        pass

    def orders(self, lists: RerankLists) -> Orders:
        """The order at each strength."""
        categories = lists.side.categories
        assert categories is not None
        return _orders_by(_diversify, lists, categories.offsets, categories.codes)


@kernel
def _diversify(
    offsets: IntArray,
    _first: int,
    items: CodeArray,
    relevance: FloatArray,
    category_offsets: IntArray,
    codes: CodeArray,
    k: int,
    keep: float,
    weight: float,
    order: IntArray,
) -> None:
    """Move the best of what is left to each place; the rest keeps its order.

    An item without categories is taken to be as similar as the others are on average: taken for
    unlike everything, it would fill the lists.
    """
    for one in range(len(offsets) - 1):
        rows = order[offsets[one] : offsets[one + 1]]
        similarity = np.zeros(len(rows))
        n_chosen = 0
        typical = 0.0
        for place in range(min(k, len(rows))):
            best, best_value = place, -np.inf
            for at in range(place, len(rows)):
                item = items[rows[at]]
                is_known = category_offsets[item] < category_offsets[item + 1]
                mean = similarity[at] / n_chosen if is_known and n_chosen else typical
                value = keep * relevance[rows[at]] - weight * mean
                if value > best_value:
                    best, best_value = at, value
            item = items[_move_up(rows, best, place)]
            _move_up(similarity, best, place)
            chosen = codes[category_offsets[item] : category_offsets[item + 1]]
            if not len(chosen):
                continue
            n_chosen += 1
            total, n_known = 0.0, 0
            for at in range(place + 1, len(rows)):
                other = items[rows[at]]
                theirs = codes[category_offsets[other] : category_offsets[other + 1]]
                if len(theirs):
                    similarity[at] += jaccard(chosen, theirs)
                    total += similarity[at]
                    n_known += 1
            typical = total / n_known / n_chosen if n_known else 0.0


@reranker(
    "popularity_calibrated",
    "relevance against the distance between the popularity of list and history",
    serves=("urp_abs",),
    needs=("history",),
)
class PopularityCalibrated:
    """Fills each place so that the list's mean popularity comes close to the history's."""

    def __init__(self, _training: TrainingSet) -> None:
        pass

    def orders(self, lists: RerankLists) -> Orders:
        """The order at each strength; a user without history keeps the model's."""
        popularity = lists.side.popularity
        assert popularity is not None
        arrays = (popularity.per_item, popularity.history_per_user)
        return _orders_by(_match_popularity, lists, *arrays)


@kernel
def _match_popularity(
    offsets: IntArray,
    first: int,
    items: CodeArray,
    relevance: FloatArray,
    popularity: FloatArray,
    own_popularity: FloatArray,
    k: int,
    keep: float,
    weight: float,
    order: IntArray,
) -> None:
    """Move the best of what is left to each place; the rest keeps its order."""
    for one in range(len(offsets) - 1):
        own = own_popularity[first + one]
        rows = order[offsets[one] : offsets[one + 1]]
        if np.isnan(own) or not len(rows):
            continue
        # distances as shares of the largest, so that they weigh alike for every user
        largest = np.abs(popularity[items[rows]] - own).max()
        if largest == 0:
            continue
        total = 0.0
        for place in range(min(k, len(rows))):
            best, best_value = place, -np.inf
            for at in range(place, len(rows)):
                mean = (total + popularity[items[rows[at]]]) / (place + 1)
                value = keep * relevance[rows[at]] - weight * abs(mean - own) / largest
                if value > best_value:
                    best, best_value = at, value
            total += popularity[items[_move_up(rows, best, place)]]
