"""EASE: a shallow linear recommender in closed form, in NumPy alone (Steck 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from fairrec.core.arrays import AnyArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import compiled


@dataclass(frozen=True, slots=True)
class Ease:
    """Item-to-item weights learned from who interacted with what.

    Parameters
    ----------
    weights : (n_items, n_items), zero on the diagonal; a column, all that speaks for one item,
        lies together in memory
    interactions : (n_users, n_items), 1 where the user interacted with the item
    """

    weights: FloatArray
    interactions: csr_array

    @classmethod
    def fit(
        cls,
        users: AnyArray,
        items: AnyArray,
        n_users: int,
        n_items: int,
        penalty: float = 50.0,
    ) -> Ease:
        """Weights that best predict each item from a user's others, with an L2 penalty."""
        interactions = interaction_matrix(users, items, n_users, n_items)
        gram = (interactions.T @ interactions).toarray()
        inverse = np.linalg.inv(gram + penalty * np.eye(n_items))
        weights = -inverse / np.diag(inverse)
        np.fill_diagonal(weights, 0.0)
        return cls(np.asfortranarray(weights), interactions)

    def score(self, users: IntArray, items: IntArray) -> FloatArray:
        """One score for each pair of user and item."""
        taken = self.interactions
        scores: FloatArray = _score(taken.indptr, taken.indices, self.weights.T, users, items)
        return scores


def interaction_matrix(users: AnyArray, items: AnyArray, n_users: int, n_items: int) -> csr_array:
    """(n_users, n_items), 1 where the user interacted with the item, however often."""
    ones = np.ones(len(users))
    interactions = csr_array((ones, (users, items)), shape=(n_users, n_items))
    interactions.sum_duplicates()
    interactions.data[:] = 1.0
    return interactions


# sums may be taken in any order: one after the other would wait for each addition
@compiled(fastmath={"reassoc", "nsz"})
def _score(
    offsets: AnyArray, taken: CodeArray, weights_for: FloatArray, users: IntArray, items: IntArray
) -> FloatArray:
    scores = np.empty(len(users))
    for pair in range(len(users)):
        weights = weights_for[items[pair]]
        total = 0.0
        for item in taken[offsets[users[pair]] : offsets[users[pair] + 1]]:
            total += weights[item]
        scores[pair] = total
    return scores
