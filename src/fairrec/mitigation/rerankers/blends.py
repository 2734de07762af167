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
ITEMS_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class ItemKnn:
    """The nearest neighbours of each item by the cosine of who interacted with both.

    Parameters
    ----------
    similarity : (n_items, n_items), of each item's neighbours alone
    interactions : (n_users, n_items), 1 where the user interacted with the item
    """

    similarity: csr_array
    interactions: csr_array

    @classmethod
    def fit(
        cls,
        users: AnyArray,
        items: AnyArray,
        n_users: int,
        n_items: int,
        n_neighbours: int = 50,
        shrinkage: float = 10.0,
    ) -> ItemKnn:
        """Neighbours from who interacted with what.

        Parameters
        ----------
        shrinkage : draws the similarity of items that few people know to 0
        """
        interactions = interaction_matrix(users, items, n_users, n_items)
        by_item = interactions.T.tocsr()
        norm = np.sqrt(np.asarray(by_item.sum(axis=1)).ravel())
        blocks = []
        # a block of rows at a time: the whole product need not fit memory
        for start in range(0, n_items, ITEMS_AT_ONCE):
            block = (by_item[start : start + ITEMS_AT_ONCE] @ interactions).tocsr()
            settings = (norm, start, n_neighbours, shrinkage)
            _keep_nearest(block.indptr, block.indices, block.data, *settings)
            block.eliminate_zeros()
            blocks.append(block)
        return cls(vstack(blocks, format="csr"), interactions)

    def score(self, users: IntArray, items: IntArray) -> FloatArray:
        """One score for each pair of user and item; pairs of one user side by side are cheap.

        It is the sum of the similarities of those neighbours of the item that the user had.
        """
        taken, near = self.interactions, self.similarity
        is_taken, scores = np.zeros(taken.shape[1], dtype=np.bool_), np.empty(len(users))
        _score(
            *(taken.indptr, taken.indices, near.indptr, near.indices, near.data),
            *(users, items, is_taken, scores),
        )
        return scores


@kernel
def _keep_nearest(
    offsets: AnyArray,
    others: AnyArray,
    shared: FloatArray,
    norm: FloatArray,
    first: int,
    n_neighbours: int,
    shrinkage: float,
) -> None:
    """How many users items share -> their similarity; 0 for all but the nearest."""
    for row in range(len(offsets) - 1):
        part = slice(offsets[row], offsets[row + 1])
        near, item = others[part], first + row
        similarity = shared[part] / (norm[item] * norm[near] + shrinkage)
        similarity[near == item] = 0.0
        similarity[np.argsort(-similarity, kind="mergesort")[n_neighbours:]] = 0.0
        shared[part] = similarity


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
    """Mark what a user had, and look for it among the neighbours of the user's pairs."""
    pair = 0
    while pair < len(users):
        user = users[pair]
        mine = taken[user_offsets[user] : user_offsets[user + 1]]
        is_taken[mine] = True
        while pair < len(users) and users[pair] == user:
            total = 0.0
            for at in range(offsets[items[pair]], offsets[items[pair] + 1]):
                if is_taken[neighbours[at]]:
                    total += similarity[at]
            scores[pair] = total
            pair += 1
        is_taken[mine] = False


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
