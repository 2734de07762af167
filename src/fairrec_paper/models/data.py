"""A bundle as arrays: features, what is trained on, and candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import polars as pl

from fairrec.core.arrays import CodeArray
from fairrec.core.errors import InputError, plain
from fairrec.core.options import spelled
from fairrec.demo.held_out import SplitData, split_data
from fairrec.inputs.ids import encode
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
    tables = {"users": users.drop("user_id").columns, "items": items.drop("item_id").columns}
    for name in features:
        homes = [table for table, columns in tables.items() if name in columns]
        if len(homes) != 1:
            where = "both users and items" if homes else "neither users nor items"
            known = [column for columns in tables.values() for column in columns]
            raise InputError(
                f"{spelled('features')}: '{plain(name)}' is a column of {where}. Name some of "
                f"{plain(', '.join(known), 300)}."
            )
    return [name for name in features if name in tables["users"]], [
        name for name in features if name in tables["items"]
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
