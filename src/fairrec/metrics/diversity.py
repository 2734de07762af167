"""Metrics of diversity: how different the recommended items are from each other."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.registry import metric


@metric("urd", needs="items", bounds=(0, 1), called="diversity")
def urd_per_user(lists: RankedLists, k: int) -> FloatArray:
    """1 minus the mean Jaccard similarity of categories over all pairs of the first k items.

    Pairs with an item whose categories are not known are left out; a user without a pair is
    undefined.
    """
    categories = lists.side.categories
    assert categories is not None
    return _urd_per_user(lists.items(k), categories.offsets, categories.codes)


@kernel
def _urd_per_user(items: IntArray, offsets: IntArray, codes: CodeArray) -> FloatArray:
    values = np.full(len(items), np.nan)
    for user in range(len(items)):
        n_pairs = 0
        similarity = 0.0
        for a in range(items.shape[1]):
            left = items[user, a]
            if left < 0 or offsets[left] == offsets[left + 1]:
                continue
            for b in range(a + 1, items.shape[1]):
                right = items[user, b]
                if right < 0 or offsets[right] == offsets[right + 1]:
                    continue
                similarity += jaccard(
                    codes[offsets[left] : offsets[left + 1]],
                    codes[offsets[right] : offsets[right + 1]],
                )
                n_pairs += 1
        if n_pairs:
            values[user] = 1 - similarity / n_pairs
    return values


@kernel
def jaccard(left: CodeArray, right: CodeArray) -> float:
    """Shared codes over all codes of two sorted runs."""
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
    return shared / (len(left) + len(right) - shared)
