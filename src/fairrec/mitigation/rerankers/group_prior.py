"""The model's scores blended with how often the user's own group chose each item in training."""

from __future__ import annotations

import numpy as np

from fairrec.mitigation.lists import RerankLists
from fairrec.mitigation.reranker import Orders, TrainingSet, reranker
from fairrec.mitigation.rerankers.blend import blended_orders

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
