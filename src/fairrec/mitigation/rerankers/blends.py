"""The model's scores blended with another opinion of the same candidates."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.threads import chunks, map_in_threads
from fairrec.mitigation.item_knn import ItemKnn
from fairrec.mitigation.reranker import Orders, RerankLists, TrainingSet, reranker
from fairrec.scoring.ease import Ease


def blended_orders(lists: RerankLists, opinion: FloatArray) -> Orders:
    """Orders by (1 - strength) * model + strength * opinion, each scaled within the list.

    Parameters
    ----------
    opinion : (n_rows,), higher is better
    """
    model, other = lists.standardised(lists.scores), lists.standardised(opinion)

    def order(strength: float) -> IntArray:
        return lists.sorted_by((1 - strength) * model + strength * other)

    return order


PRIOR = 100.0
"""Interactions of everyone that weigh as much as a group's own."""


@reranker(
    "group_prior",
    "the model's scores blended with the popularity of items within the user's group",
    needs=("history",),
)
class GroupPrior:
    """Blends the score with the log of an item's share of the group's training interactions."""

    def __init__(self, training: TrainingSet) -> None:
        history = training.history
        assert history is not None
        n_items = len(history.item_ids)
        group = np.repeat(training.group_of_user, np.diff(history.offsets))
        mine = group >= 0
        slot = group[mine] * n_items + history.items[mine]
        counts = np.bincount(slot, minlength=training.n_groups * n_items)
        counts = counts.reshape(training.n_groups, n_items)
        share = np.bincount(history.items, minlength=n_items) / len(history.items)
        total = counts.sum(axis=1, keepdims=True)
        self._log_share = np.log((counts + PRIOR * share) / (total + PRIOR))

    def orders(self, lists: RerankLists) -> Orders:
        """The order at each strength."""
        groups = np.repeat(lists.group, np.diff(lists.offsets))
        items = lists.history_item[lists.items]
        # an item nobody had is as rare as the rarest
        opinion = np.where(
            items >= 0, self._log_share[groups, items], self._log_share.min(axis=1)[groups]
        )
        return blended_orders(lists, opinion)


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


@reranker(
    "oracle",
    "upper bound that sees the labels: shows how much there is to gain, cannot be used",
    needs=("labels",),
)
class Oracle:
    """Blends the model's scores with the labels."""

    def __init__(self, _training: TrainingSet) -> None:
        pass

    def orders(self, lists: RerankLists) -> Orders:
        """The order at each strength; at 1 the relevant items come first."""
        assert lists.labels is not None
        return blended_orders(lists, lists.labels)
