"""The model's scores blended with another opinion of the same candidates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from fairrec.core.arrays import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import chunks, map_in_threads
from fairrec.mitigation.reranker import Orders, RerankLists, TrainingSet, reranker
from fairrec.scoring.ease import Ease, interaction_matrix

_ITEMS_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class ItemKnn:
    """The nearest neighbours of each item by the cosine of who interacted with both.

    Item `i` has `neighbours[offsets[i]:offsets[i + 1]]`.

    Parameters
    ----------
    similarity : of each neighbour
    interactions : (n_users, n_items), 1 where the user interacted with the item
    """

    offsets: IntArray
    neighbours: CodeArray
    similarity: FloatArray
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
        offsets = np.zeros(n_items + 1, dtype=np.int64)
        found, weights = [], []
        # a block of rows at a time: the whole product need not fit memory
        for start in range(0, n_items, _ITEMS_AT_ONCE):
            block = (by_item[start : start + _ITEMS_AT_ONCE] @ interactions).tocsr()
            kept = _nearest(
                block.indptr, block.indices, block.data, norm, start, n_neighbours, shrinkage
            )
            found.append(kept[1])
            weights.append(kept[2])
            offsets[start + 1 : start + 1 + len(kept[0])] = kept[0]
        neighbours, similarity = np.concatenate(found), np.concatenate(weights)
        return cls(np.cumsum(offsets), neighbours, similarity, interactions)

    def score(self, users: IntArray, items: IntArray) -> FloatArray:
        """One score for each pair of user and item; pairs of one user side by side are cheap.

        It is the sum of the similarities of those neighbours of the item that the user had.
        """
        taken = self.interactions
        scores = np.empty(len(users))
        _score(
            *(taken.indptr, taken.indices, self.offsets, self.neighbours, self.similarity),
            *(users, items, np.zeros(taken.shape[1], dtype=np.bool_), scores),
        )
        return scores


@kernel
def _nearest(
    offsets: AnyArray,
    others: AnyArray,
    n_shared: FloatArray,
    norm: FloatArray,
    first: int,
    n_neighbours: int,
    shrinkage: float,
) -> tuple[IntArray, CodeArray, FloatArray]:
    """How many neighbours each item of a block has, and these with their similarities."""
    n_items = len(offsets) - 1
    counts = np.zeros(n_items, dtype=np.int64)
    found = np.empty(n_items * n_neighbours, dtype=np.int32)
    weights = np.empty(n_items * n_neighbours)
    at = 0
    for row in range(n_items):
        item = first + row
        part = slice(offsets[row], offsets[row + 1])
        similarity = n_shared[part] / (norm[item] * norm[others[part]] + shrinkage)
        for nearest in np.argsort(-similarity, kind="mergesort")[: n_neighbours + 1]:
            other = others[offsets[row] + nearest]
            if other != item and counts[row] < n_neighbours:
                found[at], weights[at] = other, similarity[nearest]
                counts[row] += 1
                at += 1
    return counts, found[:at].copy(), weights[:at].copy()


@kernel
def _score(
    user_offsets: AnyArray,
    taken: AnyArray,
    offsets: IntArray,
    neighbours: CodeArray,
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
