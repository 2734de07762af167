"""Lists whose categories come in the proportions of what the user chose before."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.inputs.tastes import tastes_of
from fairrec.metrics.calibration import BLUR
from fairrec.mitigation.lists import RerankLists
from fairrec.mitigation.reranker import Orders, TrainingSet, reranker


@reranker(
    "calibrated",
    "relevance against the divergence between the categories of list and history",
    serves=("miscalibration",),
    needs=("items", "history"),
)
class Calibrated:
    """Fills each place so that the divergence from the history's categories is small (Steck 2018).

    An item counts with an equal share for each of its categories.
    """

    def __init__(self, training: TrainingSet) -> None:
        assert training.history is not None and training.categories is not None
        n_users = len(training.history.user_ids)
        self._tastes = tastes_of(training.history, training.categories, np.arange(n_users))

    def orders(self, lists: RerankLists) -> Orders:
        """The order at each strength; a user without history keeps the model's."""
        categories = lists.side.categories
        assert categories is not None

        def order(strength: float) -> IntArray:
            new = lists.by_score.copy()
            arrays = (lists.items, lists.relevance, categories.offsets, categories.codes)
            tastes = self._tastes
            n_codes = int(max(tastes.n_codes, categories.codes.max(initial=-1) + 1))
            history = (lists.user, tastes.offsets, tastes.codes, tastes.shares, n_codes)
            lists.in_chunks(_fill, *arrays, *history, lists.k, 1 - strength, strength, new)
            return new

        return order


@kernel
def _fill(
    offsets: IntArray,
    first: int,
    items: CodeArray,
    relevance: FloatArray,
    category_offsets: IntArray,
    codes: CodeArray,
    user: IntArray,
    share_offsets: IntArray,
    share_codes: CodeArray,
    shares: FloatArray,
    n_codes: int,
    k: int,
    keep: float,
    weight: float,
    order: IntArray,
) -> None:
    """Move the best of what is left to each place; the rest keeps its order.

    At one place all lists have one length, so the divergence of a list is a constant minus the
    sum of share * log(amount), and an item changes only the terms of its own categories.
    """
    wanted = np.zeros(n_codes)
    amount = np.zeros(n_codes)
    for one in range(len(offsets) - 1):
        owner = user[first + one]
        if owner < 0:
            continue
        mine = slice(share_offsets[owner], share_offsets[owner + 1])
        wanted[share_codes[mine]] = shares[mine]
        rows = order[offsets[one] : offsets[one + 1]]
        for place in range(min(k, len(rows))):
            best, best_value = place, -np.inf
            blur = BLUR * (place + 1)
            for at in range(place, len(rows)):
                item = items[rows[at]]
                part = codes[category_offsets[item] : category_offsets[item + 1]]
                gain = 0.0
                for code in part:
                    if wanted[code] > 0:
                        before = (1 - BLUR) * amount[code] + blur * wanted[code]
                        gain += wanted[code] * np.log1p((1 - BLUR) / len(part) / before)
                value = keep * relevance[rows[at]] + weight * gain
                if value > best_value:
                    best, best_value = at, value
            row = rows[best]
            for at in range(best, place, -1):
                rows[at] = rows[at - 1]
            rows[place] = row
            item = items[row]
            part = codes[category_offsets[item] : category_offsets[item + 1]]
            for code in part:
                amount[code] += 1 / len(part)
        for place in range(min(k, len(rows))):
            item = items[rows[place]]
            amount[codes[category_offsets[item] : category_offsets[item + 1]]] = 0.0
        wanted[share_codes[mine]] = 0.0
