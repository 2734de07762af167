"""Maximal marginal relevance: liked by the model, and unlike the items already chosen."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.metrics.diversity import jaccard
from fairrec.mitigation.lists import RerankLists
from fairrec.mitigation.reranker import Orders, TrainingSet, reranker


@reranker(
    "mmr", "relevance against similarity to the items chosen", serves=("urd",), needs=("items",)
)
class Mmr:
    """Fills each place by relevance minus mean Jaccard similarity (Carbonell 1998)."""

    def __init__(self, _training: TrainingSet) -> None:
        pass

    def orders(self, lists: RerankLists) -> Orders:
        """The order at each strength."""
        categories = lists.side.categories
        assert categories is not None

        def order(strength: float) -> IntArray:
            new = lists.by_score.copy()
            arrays = (lists.items, lists.relevance, categories.offsets, categories.codes)
            lists.in_chunks(_fill, *arrays, lists.k, 1 - strength, strength, new)
            return new

        return order


@kernel
def _fill(
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
            row = rows[best]
            # the rest moves down by one place
            for at in range(best, place, -1):
                rows[at] = rows[at - 1]
                similarity[at] = similarity[at - 1]
            rows[place] = row
            item = items[row]
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
