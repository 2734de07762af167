"""A recommender without training: what is popular, in the categories the user chose before."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy import sparse

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.inputs.ids import known_positions
from fairrec_paper.datasets.bundle import Bundle
from fairrec_paper.models.deep.training_data import TrainingData

CHUNK = 1 << 20


class Taste:
    """Scores by popularity times the share of the user's history in the item's categories.

    It scales to any number of items, which suits worlds too large to train on in passing.
    """

    def __init__(self, bundle: Bundle, history: pl.DataFrame) -> None:
        users = known_positions(history["user_id"], bundle.users["user_id"])
        items = known_positions(history["item_id"], bundle.items["item_id"])
        n_users, n_items = bundle.users.height, bundle.items.height
        self._popularity = np.log1p(np.bincount(items, minlength=n_items))
        categories = bundle.items["categories"].explode()
        codes = categories.cast(pl.Categorical).to_physical().to_numpy()
        lengths = bundle.items["categories"].list.len().to_numpy()
        self._of_item = sparse.csr_matrix(
            (
                np.repeat(1 / np.maximum(lengths, 1), lengths),
                codes,
                np.concatenate([[0], np.cumsum(lengths)]),
            ),
            shape=(n_items, int(codes.max()) + 1),
        )
        chosen = sparse.csr_matrix((np.ones(len(users)), (users, items)), shape=(n_users, n_items))
        counts = chosen @ self._of_item
        totals = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)
        self._of_user = (sparse.diags(1 / totals) @ counts).tocsr()

    def score(self, users: IntArray, items: IntArray) -> FloatArray:
        """One score for each pair of user and item."""
        scores = np.empty(len(users))
        for start in range(0, len(users), CHUNK):
            part = slice(start, start + CHUNK)
            shared = self._of_user[users[part]].multiply(self._of_item[items[part]])
            share = np.asarray(shared.sum(axis=1)).ravel()
            scores[part] = self._popularity[items[part]] * (0.05 + share)
        return scores


def taste_predictions(bundle: Bundle, data: TrainingData) -> pl.DataFrame:
    """`user_id`, `item_id`, `score`, `label` of the test candidates, one row a user."""
    model, targets = Taste(bundle, data.history), data.test
    users = np.repeat(targets.users, targets.items.shape[1])
    scores = model.score(users, targets.items.ravel().astype(np.int64))
    lists = pl.Series("score", scores.reshape(targets.items.shape)).arr.to_list()
    return targets.table(bundle.users, bundle.items).select("user_id", "item_id", lists, "label")
