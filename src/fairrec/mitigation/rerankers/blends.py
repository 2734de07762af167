"""The model's scores blended with another opinion of the same candidates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from fairrec.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import chunks, map_in_threads
from fairrec.mitigation.reranker import Orders, RerankLists, TrainingSet, reranker
from fairrec.scoring.ease import Ease, interaction_matrix

LARGEST_EASE = 5000
"""Items up to which EASE is learned: it inverts a matrix of that size."""
PENALTY = 1000.0
N_NEIGHBOURS, SHRINKAGE = 50, 10.0
ITEMS_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class ItemKnn:
    """The nearest neighbours of each item by the cosine of their users.

    Parameters
    ----------
    similarity : (n_items, n_items), of each item's neighbours alone
    interactions : (n_users, n_items), 1 where the user interacted with the item
    """

    similarity: csr_array
    interactions: csr_array

    @classmethod
    def fit(cls, users: AnyArray, items: AnyArray, n_users: int, n_items: int) -> ItemKnn:
        """Neighbours from interactions of users with items."""
        interactions = interaction_matrix(users, items, n_users, n_items)
        by_item = interactions.T.tocsr()
        norm = np.sqrt(np.asarray(by_item.sum(axis=1)).ravel())
        blocks = []
        # a block of rows at a time: the whole product need not fit memory
        for start in range(0, n_items, ITEMS_AT_ONCE):
            block = (by_item[start : start + ITEMS_AT_ONCE] @ interactions).tocsr()
            for row in range(block.shape[0]):
                part = slice(block.indptr[row], block.indptr[row + 1])
                near, item = block.indices[part], start + row
                # shrinkage draws the similarity of items with few users to 0
                similarity = block.data[part] / (norm[item] * norm[near] + SHRINKAGE)
                similarity[near == item] = 0.0
                similarity[np.argsort(-similarity, kind="stable")[N_NEIGHBOURS:]] = 0.0
                block.data[part] = similarity
            block.eliminate_zeros()
            blocks.append(block)
        return cls(vstack(blocks, format="csr"), interactions)

    def score(self, users: IntArray, items: IntArray) -> FloatArray:
        """One score for each pair: the similarities of those neighbours that the user had."""
        taken, near = self.interactions, self.similarity
        is_taken, scores = np.zeros(taken.shape[1], dtype=np.bool_), np.empty(len(users))
        _score(
            *(taken.indptr, taken.indices, near.indptr, near.indices, near.data),
            *(users, items, is_taken, scores),
        )
        return scores


@kernel
def _score(
    user_offsets: AnyArray,
    taken: AnyArray,
    offsets: AnyArray,
    neighbours: AnyArray,
    similarity: FloatArray,
    users: IntArray,
    items: IntArray,
    is_taken: BoolArray,
    scores: FloatArray,
) -> None:
    """Mark the items of a user, and look for them among the neighbours of the user's pairs."""
    pair = 0
    while pair < len(users):
        user = users[pair]
        own = taken[user_offsets[user] : user_offsets[user + 1]]
        is_taken[own] = True
        while pair < len(users) and users[pair] == user:
            near = slice(offsets[items[pair]], offsets[items[pair] + 1])
            scores[pair] = (similarity[near] * is_taken[neighbours[near]]).sum()
            pair += 1
        is_taken[own] = False


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


@reranker(
    "second_opinion",
    "the model's scores blended with EASE's, or item-kNN's for large catalogues",
    serves=("auc", "mrr", "ndcg", "hit", "recall", "precision", "f1", "map"),
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
