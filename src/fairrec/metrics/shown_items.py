"""Metrics of what people are shown: which items have the first places, good for them or not."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.metrics.attention import discounts
from fairrec.metrics.ranked import RankedLists, mean_over_places
from fairrec.metrics.registry import metric


@metric(
    "share",
    higher_is_better=None,
    needs="item_columns",
    bounds=(0, 1),
    called="places for",
    takes="column=value",
)
def share_per_user(lists: RankedLists, k: int, of: str) -> FloatArray:
    """Share of the first k places, each discounted as in NDCG, for items with this value.

    Places of items of which it is not known are left out; undefined where there are no others.
    """
    return mean_over_places(lists, k, lists.side.per_item[of], discounts(k))


@metric("mean", higher_is_better=None, needs="item_columns", called="mean", takes="column")
def mean_per_user(lists: RankedLists, k: int, of: str) -> FloatArray:
    """Mean of a column of numbers over the first k items.

    Items without a number are left out; undefined where there are no others.
    """
    return mean_over_places(lists, k, lists.side.per_item[of])


@metric("novelty", higher_is_better=None, needs="history", called="novelty", ratio_scale=True)
def novelty_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Mean self-information of the first k items: bits, -log2 of their share of interactions.

    An item nobody interacted with counts as one with a single interaction. Undefined for a user
    without candidates.
    """
    popularity = lists.side.popularity
    assert popularity is not None
    bits = -np.log2(np.maximum(popularity.per_item, popularity.percent) / 100)
    return mean_over_places(lists, k, bits)


@metric(
    "long_tail", higher_is_better=None, needs="history", bounds=(0, 1), called="places for the tail"
)
def long_tail_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Share of the first k items that are not in the most popular fifth of the history's items.

    Undefined for a user without candidates.
    """
    popularity = lists.side.popularity
    assert popularity is not None
    return mean_over_places(lists, k, np.where(popularity.is_head, 0.0, 1.0))
