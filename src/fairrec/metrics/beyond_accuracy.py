"""Metrics of what a list is like: calibration, coverage, diversity, popularity, items shown."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.metrics.item_exposure import discounts
from fairrec.metrics.ranked import RankedLists, mean_over_places
from fairrec.metrics.registry import metric

BLUR = 0.01
"""Share of the history's distribution mixed into the list's, so that no category has zero."""
MOST = float(-np.log(BLUR))
"""Of a list that has nothing of what its user chose before."""


@metric(
    "miscalibration",
    higher_is_better=False,
    needs=("items", "history", "user_profiles"),
    bounds=(0, MOST),
    called="distance from the user's taste",
)
def miscalibration_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Kullback-Leibler divergence of the first k items' categories from those of the history.

    Undefined without a category in the history or in the first k items.
    """
    categories, profiles = lists.side.categories, lists.side.user_profiles
    assert categories is not None and profiles is not None
    n_codes = int(max(profiles.n_codes, categories.codes.max(initial=-1) + 1))
    of_lists = (profiles.offsets, profiles.codes, profiles.shares, profiles.value_of_lists)
    values: FloatArray = _divergence(
        lists.items(k), categories.offsets, categories.codes, *of_lists, n_codes
    )
    return values


@kernel
def _divergence(
    items: IntArray,
    offsets: IntArray,
    codes: CodeArray,
    profile_offsets: IntArray,
    profile_codes: CodeArray,
    shares: FloatArray,
    value_of_lists: IntArray,
    n_codes: int,
) -> FloatArray:
    values = np.full(len(items), np.nan)
    amount = np.zeros(n_codes)
    for user in range(len(items)):
        profile = value_of_lists[user]
        if profile < 0 or profile_offsets[profile] == profile_offsets[profile + 1]:
            continue
        amount[:] = 0.0
        total = 0.0
        for item in items[user]:
            if item >= 0:
                part = codes[offsets[item] : offsets[item + 1]]
                for code in part:
                    amount[code] += 1 / len(part)
                total += 1.0 if len(part) else 0.0
        if total == 0:
            continue
        divergence = 0.0
        for at in range(profile_offsets[profile], profile_offsets[profile + 1]):
            share = shares[at]
            blurred = (1 - BLUR) * amount[profile_codes[at]] / total + BLUR * share
            divergence += share * np.log(share / blurred)
        # rounding may take it a hair below nothing, or beyond the most there is
        values[user] = min(max(divergence, 0.0), MOST)
    return values


@metric("coverage", needs=(), bounds=(0, 1), called="places filled")
def coverage_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Share of the first k places that are filled, 0 for a user without a list."""
    return np.minimum(lists.lengths, k) / k


@metric("urd", needs="items", bounds=(0, 1), called="diversity")
def urd_per_user(lists: RankedLists, k: int) -> FloatArray:
    """1 minus the mean Jaccard similarity of categories over all pairs of the first k items.

    Pairs with an item whose categories are not known are left out; a user without a pair is
    undefined.
    """
    categories = lists.side.categories
    assert categories is not None
    similarity: FloatArray = _mean_over_pairs(
        lists.items(k), categories.offsets, categories.codes, False
    )
    return 1 - similarity


@metric("ild", needs="items", ratio_scale=True, called="distance between items")
def ild_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Mean Hamming distance of categories over all pairs of the first k items.

    The distance is the number of categories that only one of the two has. Undefined as `urd` is.
    """
    categories = lists.side.categories
    assert categories is not None
    distance: FloatArray = _mean_over_pairs(
        lists.items(k), categories.offsets, categories.codes, True
    )
    return distance


@kernel
def _mean_over_pairs(
    items: IntArray, offsets: IntArray, codes: CodeArray, is_distance: bool
) -> FloatArray:
    """Mean Hamming distance, or Jaccard similarity, over pairs of items with categories."""
    values = np.full(len(items), np.nan)
    for user in range(len(items)):
        n_pairs = 0
        total = 0.0
        for a in range(items.shape[1]):
            left = items[user, a]
            if left < 0 or offsets[left] == offsets[left + 1]:
                continue
            mine = codes[offsets[left] : offsets[left + 1]]
            for b in range(a + 1, items.shape[1]):
                right = items[user, b]
                if right < 0 or offsets[right] == offsets[right + 1]:
                    continue
                theirs = codes[offsets[right] : offsets[right + 1]]
                shared = _count_shared(mine, theirs)
                either = len(mine) + len(theirs) - shared
                total += either - shared if is_distance else shared / either
                n_pairs += 1
        if n_pairs:
            values[user] = total / n_pairs
    return values


@kernel
def _count_shared(left: CodeArray, right: CodeArray) -> int:
    """Codes that two sorted runs share."""
    i, j, shared = 0, 0, 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            shared += 1
            i += 1
            j += 1
        elif left[i] < right[j]:
            i += 1
        else:
            j += 1
    return shared


@kernel
def jaccard(left: CodeArray, right: CodeArray) -> float:
    """Shared codes over all codes of two sorted runs."""
    shared = _count_shared(left, right)
    return shared / (len(left) + len(right) - shared)


@metric(
    "urp", needs="history", higher_is_better=None, bounds=(-100, 100), called="excess popularity"
)
def urp_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Mean popularity of the first k items minus that of the user's history, in percent.

    Undefined for a user without history or without candidates.
    """
    popularity = lists.side.popularity
    assert popularity is not None
    recommended = mean_over_places(lists, k, popularity.per_item)
    return np.asarray(recommended - popularity.history_per_user)


@metric(
    "urp_abs",
    needs="history",
    higher_is_better=False,
    bounds=(0, 100),
    called="distance in popularity",
)
def urp_abs_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Distance between the mean popularity of the first k items and of the user's history."""
    return np.abs(urp_per_user(lists, k))


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

    An item without interactions counts as one with a single interaction. Undefined for a user
    without candidates.
    """
    popularity = lists.side.popularity
    assert popularity is not None
    bits = -np.log2(np.maximum(popularity.per_item, popularity.percent) / 100)
    return mean_over_places(lists, k, bits)


@metric("popularity", higher_is_better=None, needs="history", called="popularity", ratio_scale=True)
def popularity_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Mean number of training interactions of the first k items.

    Undefined for a user without candidates.
    """
    popularity = lists.side.popularity
    assert popularity is not None
    return mean_over_places(lists, k, popularity.per_item / popularity.percent)


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
