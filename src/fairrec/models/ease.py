"""EASE: a shallow linear recommender in closed form, in NumPy alone (Steck 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairrec.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Ease:
    """Item-to-item weights learned from who interacted with what.

    Parameters
    ----------
    weights : (n_items, n_items), zero on the diagonal
    interactions : (n_users, n_items), 1 where the user interacted with the item
    """

    weights: FloatArray
    interactions: FloatArray

    @classmethod
    def fit(
        cls,
        users: IntArray,
        items: IntArray,
        n_users: int,
        n_items: int,
        penalty: float = 50.0,
    ) -> Ease:
        """Weights that best predict each item from a user's others, with an L2 penalty."""
        interactions = np.zeros((n_users, n_items))
        interactions[users, items] = 1.0
        gram = interactions.T @ interactions
        inverse = np.linalg.inv(gram + penalty * np.eye(n_items))
        weights = -inverse / np.diag(inverse)
        np.fill_diagonal(weights, 0.0)
        return cls(weights, interactions)

    def score(self, users: IntArray, items: IntArray) -> FloatArray:
        """One score for each pair of user and item."""
        scores: FloatArray = (self.interactions @ self.weights)[users, items]
        return scores
