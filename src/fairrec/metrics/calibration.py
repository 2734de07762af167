"""Calibration: whether the categories of a list come as they do in what its user chose before."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.registry import metric

BLUR = 0.01
"""Share of the history's distribution mixed into the list's, so that no category has zero."""
MOST = float(-np.log(BLUR))
"""Of a list that has nothing of what its user chose before."""


@metric(
    "miscalibration",
    higher_is_better=False,
    needs=("items", "history", "tastes"),
    bounds=(0, MOST),
    called="distance from the user's taste",
)
def miscalibration_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Kullback-Leibler divergence of the first k items' categories from those of the history.

    Undefined without a category in the history or in the first k items.
    """
    categories, tastes = lists.side.categories, lists.side.tastes
    assert categories is not None and tastes is not None
    n_codes = int(max(tastes.n_codes, categories.codes.max(initial=-1) + 1))
    of_lists = (tastes.offsets, tastes.codes, tastes.shares, tastes.of_list)
    values: FloatArray = _divergence(
        lists.items(k), categories.offsets, categories.codes, *of_lists, n_codes
    )
    return values


@kernel
def _divergence(
    items: IntArray,
    offsets: IntArray,
    codes: CodeArray,
    taste_offsets: IntArray,
    taste_codes: CodeArray,
    shares: FloatArray,
    of_list: IntArray,
    n_codes: int,
) -> FloatArray:
    values = np.full(len(items), np.nan)
    amount = np.zeros(n_codes)
    for user in range(len(items)):
        taste = of_list[user]
        if taste < 0 or taste_offsets[taste] == taste_offsets[taste + 1]:
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
        for at in range(taste_offsets[taste], taste_offsets[taste + 1]):
            share = shares[at]
            blurred = (1 - BLUR) * amount[taste_codes[at]] / total + BLUR * share
            divergence += share * np.log(share / blurred)
        # rounding may take it a hair below nothing, or beyond the most there is
        values[user] = min(max(divergence, 0.0), MOST)
    return values
