"""A recommender in memory, and one by popularity and taste, without training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
import polars as pl
from scipy import sparse

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.inputs.ids import known_positions
from fairrec_paper.datasets.bundle import Bundle
from fairrec_paper.models.data import training_data

Target = Literal["test", "validation"]


class Recommender(ABC):
    """Scores pairs of user and item, and has candidates to score.

    Parameters
    ----------
    users, items : tables of ids, in the order of the positions that `score_positions` takes
    """

    def __init__(self, users: pl.DataFrame, items: pl.DataFrame) -> None:
        self.users, self.items = users, items

    @abstractmethod
    def score_positions(self, users: AnyArray, items: AnyArray) -> FloatArray:
        """One score for each pair of positions."""

    @abstractmethod
    def candidates(self, target: Target = "test") -> pl.DataFrame:
        """`user_id`, `item_id`, `label`, one row a user, to be scored."""

    @abstractmethod
    def tables(self) -> dict[str, Any]:
        """What an audit needs beside predictions: users, items, history and attributes."""

    def score(self, user_ids: AnyArray, item_ids: AnyArray) -> FloatArray:
        """One score for each pair of ids."""
        users = known_positions(pl.Series("user_id", user_ids), self.users["user_id"])
        items = known_positions(pl.Series("item_id", item_ids), self.items["item_id"])
        return self.score_positions(users, items)

    def predictions(self, target: Target = "test") -> pl.DataFrame:
        """`user_id`, `item_id`, `label`, `score`, one row a candidate."""
        rows = self.candidates(target).explode("item_id", "label")
        users = known_positions(rows["user_id"], self.users["user_id"])
        items = known_positions(rows["item_id"], self.items["item_id"])
        # as text, which can be joined with any other table
        item_ids = rows["item_id"].cast(self.items["item_id"].dtype)
        return rows.with_columns(item_ids, pl.Series("score", self.score_positions(users, items)))


CHUNK = 1 << 20


class TasteRecommender(Recommender):
    """Scores by popularity times the share of the user's history in the item's categories.

    It scales to any number of items, which suits worlds too large to train on in passing.
    """

    def __init__(self, bundle: Bundle, seed: int = 0) -> None:
        super().__init__(bundle.users, bundle.items)
        self._bundle, self._data = bundle, training_data(bundle, seed=seed)
        history = self._data.history
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

    def score_positions(self, users: AnyArray, items: AnyArray) -> FloatArray:
        """One score for each pair of positions."""
        scores = np.empty(len(users))
        for start in range(0, len(users), CHUNK):
            part = slice(start, start + CHUNK)
            shared = self._of_user[users[part]].multiply(self._of_item[items[part]])
            share = np.asarray(shared.sum(axis=1)).ravel()
            scores[part] = self._popularity[items[part]] * (0.05 + share)
        return scores

    def candidates(self, target: Target = "test") -> pl.DataFrame:
        """`user_id`, `item_id`, `label`, one row a user, to be scored."""
        targets = self._data.test if target == "test" else self._data.validation
        return targets.table(self.users, self.items)

    def tables(self) -> dict[str, Any]:
        """What an audit needs beside predictions: users, items, history and attributes."""
        return {
            "users": self.users,
            "items": self.items if self._bundle.has_categories else None,
            "history": self._data.history,
            "by": self._bundle.manifest.attributes,
        }
