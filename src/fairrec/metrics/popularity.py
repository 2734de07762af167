"""Metrics of popularity: whether users get items as popular as those they chose before."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.metrics.ranked import RankedLists, mean_over_places
from fairrec.metrics.registry import metric


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
