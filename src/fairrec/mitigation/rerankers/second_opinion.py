"""The model's scores blended with those of a second recommender, learned from the history."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.threads import chunks, map_in_threads
from fairrec.mitigation.ease import Ease
from fairrec.mitigation.item_knn import ItemKnn
from fairrec.mitigation.lists import RerankLists
from fairrec.mitigation.reranker import Orders, TrainingSet, reranker
from fairrec.mitigation.rerankers.blend import blended_orders

LARGEST_EASE = 5000
"""Items up to which EASE is learned: it inverts a matrix of that size."""
PENALTY = 1000.0


@reranker(
    "second_opinion",
    "the model's scores blended with EASE's, or item-kNN's for large catalogues",
    serves=("auc", "mrr", "ndcg", "hit", "recall", "precision", "map"),
    needs=("history",),
)
class SecondOpinion:
    """Blends the scores of two recommenders, each scaled within the user's list."""

    def __init__(self, training: TrainingSet) -> None:
        history = training.history
        assert history is not None
        n_users, n_items = len(history.user_ids), len(history.item_ids)
        users = np.repeat(np.arange(n_users), np.diff(history.offsets))
        self._opinion: Ease | ItemKnn = (
            Ease.fit(users, history.items, n_users, n_items, PENALTY)
            if n_items <= LARGEST_EASE
            else ItemKnn.fit(users, history.items, n_users, n_items)
        )

    def orders(self, lists: RerankLists) -> Orders:
        """The order at each strength; a user without history keeps the model's."""
        users = np.repeat(lists.user, np.diff(lists.offsets))
        items = lists.history_item[lists.items]
        # the second opinion knows nothing of an item or a user that the history lacks
        known = np.flatnonzero((users >= 0) & (items >= 0))
        opinion = np.zeros(len(items))

        def score(part: slice) -> FloatArray:
            return self._opinion.score(users[known[part]], items[known[part]])

        parts = chunks(len(known), lists.threads)
        scored = map_in_threads(score, parts, lists.threads)
        for part, scores in zip(parts, scored, strict=True):
            opinion[known[part]] = scores
        return blended_orders(lists, opinion)
