"""A bundle as arrays to train on; recommenders in memory, one of them without training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import polars as pl
from scipy import sparse

from fairrec.core.arrays import AnyArray, CodeArray, FloatArray
from fairrec.core.errors import InputError, plain
from fairrec.core.options import spell
from fairrec.demo.held_out import SplitData, split_data
from fairrec.inputs.ids import encode, known_positions
from fairrec_paper.datasets.bundle import Bundle

CATEGORIES = "categories"
"""The column of items that may hold several values."""


@dataclass(frozen=True, slots=True)
class FeatureTables:
    """Codes of each field for each user and item; the first field of each is the id itself.

    Parameters
    ----------
    user_codes : (n_users, n_user_fields)
    item_codes : (n_items, n_item_fields)
    item_categories : (n_items, most_categories), codes from 1; 0 where there is no more
    """

    user_sizes: tuple[int, ...]
    user_codes: CodeArray
    item_sizes: tuple[int, ...]
    item_codes: CodeArray
    n_categories: int
    item_categories: CodeArray

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.user_codes)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.item_codes)


def feature_tables(
    users: pl.DataFrame,
    items: pl.DataFrame,
    attributes: Sequence[str],
    features: Sequence[str] | None = None,
) -> FeatureTables:
    """Fields of users and items, the id first, in the tables' order.

    Parameters
    ----------
    features : columns of either table; by default the attributes, and categories where there are
        any
    """
    of_users, of_items = [*attributes], [name for name in items.columns if name == CATEGORIES]
    if features is not None:
        of_users, of_items = _split_features(users, items, features)
    user_sizes, user_codes = _fields(users, of_users)
    item_sizes, item_codes = _fields(items, [name for name in of_items if name != CATEGORIES])
    n_categories, categories = _category_codes(items, CATEGORIES in of_items)
    return FeatureTables(
        user_sizes=user_sizes,
        user_codes=user_codes,
        item_sizes=item_sizes,
        item_codes=item_codes,
        n_categories=n_categories,
        item_categories=categories,
    )


def _split_features(
    users: pl.DataFrame, items: pl.DataFrame, features: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The features that are columns of users, and those of items."""
    of_users, of_items = users.drop("user_id").columns, items.drop("item_id").columns
    for name in features:
        if (name in of_users) == (name in of_items):
            where = "both users and items" if name in of_users else "neither users nor items"
            known = plain(", ".join([*of_users, *of_items]), 300)
            raise InputError(
                f"{spell('features')}: '{plain(name)}' is a column of {where}. "
                f"Name some of {known}."
            )
    return [name for name in features if name in of_users], [
        name for name in features if name in of_items
    ]


def _fields(table: pl.DataFrame, names: Sequence[str]) -> tuple[tuple[int, ...], CodeArray]:
    """The number of codes of each field, and the codes (n_rows, n_fields); the row comes first."""
    columns, sizes = [np.arange(table.height, dtype=np.int32)], [table.height]
    for name in names:
        codes, n_codes = _encode_with_missing(table[name])
        columns.append(codes)
        sizes.append(n_codes)
    return tuple(sizes), np.stack(columns, axis=1)


def _encode_with_missing(values: pl.Series) -> tuple[CodeArray, int]:
    """Codes from 1, and 0 for a missing value."""
    present_codes, distinct = encode(values.drop_nulls())
    codes = np.zeros(len(values), dtype=np.int32)
    codes[values.is_not_null().to_numpy()] = present_codes + 1
    return codes, len(distinct) + 1


def _category_codes(items: pl.DataFrame, has_categories: bool) -> tuple[int, CodeArray]:
    if not has_categories:
        return 0, np.zeros((items.height, 0), dtype=np.int32)
    pairs = items.select(CATEGORIES).with_row_index("item").explode(CATEGORIES).drop_nulls()
    codes, distinct = encode(pairs[CATEGORIES])
    item = pairs["item"].to_numpy()
    first = np.searchsorted(item, item, side="left")
    place = np.arange(len(item)) - first
    table = np.zeros((items.height, int(place.max(initial=-1)) + 1), dtype=np.int32)
    table[item, place] = codes + 1
    return len(distinct), table


@dataclass(frozen=True, slots=True)
class TrainingData(SplitData):
    """All that training and its evaluation need."""

    features: FeatureTables


def training_data(
    bundle: Bundle,
    all_positive: bool = False,
    holdout: float = 0.2,
    n_candidates: int = 50,
    seed: int = 0,
    features: Sequence[str] | None = None,
) -> TrainingData:
    """Split a bundle, keep out a share of the training rows, and draw the candidates.

    Parameters
    ----------
    all_positive : count every interaction as positive, whatever its rating
    features : what models see, see `feature_tables`
    """
    users, items = bundle.users, bundle.items
    split = split_data(bundle.interactions, users, items, all_positive, holdout, n_candidates, seed)
    return TrainingData(
        **{field.name: getattr(split, field.name) for field in fields(split)},
        features=feature_tables(users, items, bundle.manifest.attributes, features),
    )


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
