"""Users and items as categorical fields: what the deep models see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import CodeArray
from fairrec.inputs.ids import encode


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
    users: pl.DataFrame, items: pl.DataFrame, attributes: Sequence[str]
) -> FeatureTables:
    """Fields of users (id and attributes) and items (id and categories), in the tables' order."""
    columns = [np.arange(users.height, dtype=np.int32)]
    sizes = [users.height]
    for name in attributes:
        codes, n_codes = _codes_with_missing(users[name])
        columns.append(codes)
        sizes.append(n_codes)
    n_categories, categories = _category_codes(items)
    return FeatureTables(
        user_sizes=tuple(sizes),
        user_codes=np.stack(columns, axis=1),
        item_sizes=(items.height,),
        item_codes=np.arange(items.height, dtype=np.int32)[:, None],
        n_categories=n_categories,
        item_categories=categories,
    )


def _codes_with_missing(values: pl.Series) -> tuple[CodeArray, int]:
    """Codes from 1, and 0 for a missing value."""
    present_codes, distinct = encode(values.drop_nulls())
    codes = np.zeros(len(values), dtype=np.int32)
    codes[values.is_not_null().to_numpy()] = present_codes + 1
    return codes, len(distinct) + 1


def _category_codes(items: pl.DataFrame) -> tuple[int, CodeArray]:
    if "categories" not in items.columns:
        return 0, np.zeros((items.height, 0), dtype=np.int32)
    pairs = items.select("categories").with_row_index("item").explode("categories").drop_nulls()
    codes, distinct = encode(pairs["categories"])
    item = pairs["item"].to_numpy()
    first = np.searchsorted(item, item, side="left")
    place = np.arange(len(item)) - first
    table = np.zeros((items.height, int(place.max(initial=-1)) + 1), dtype=np.int32)
    table[item, place] = codes + 1
    return len(distinct), table
