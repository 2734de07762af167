"""Lists as popular as what the user chose before."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.mitigation.lists import RerankLists
from fairrec.mitigation.reranker import Orders, TrainingSet, reranker


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

        def order(strength: float) -> IntArray:
            new = lists.by_score.copy()
            arrays = (lists.items, lists.relevance, popularity.per_item)
            own = popularity.history_per_user
            lists.in_chunks(_fill, *arrays, own, lists.k, 1 - strength, strength, new)
            return new

        return order


@kernel
def _fill(
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
            row = rows[best]
            for at in range(best, place, -1):
                rows[at] = rows[at - 1]
            rows[place] = row
            total += popularity[items[row]]
