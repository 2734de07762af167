"""Item-kNN: an item is liked by those who liked its neighbours. For catalogues beyond EASE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from fairrec.core.arrays import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.scoring.ease import interaction_matrix

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
