"""How far a user's list is from another list of the same user: of another run, or as changed."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.inputs.side_data import OtherLists
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.registry import metric

PERSISTENCE = 0.9
"""Of `rbo`: how likely a reader is to look at the next place, too. With 0.9 the first ten places
have 86% of the weight (Webber et al. 2010)."""


@metric(
    "changed", higher_is_better=False, needs="against_lists", bounds=(0, 1), called="items changed"
)
def changed_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Share of the first k items that the other list does not have among its first k.

    Of the longer list where one is shorter than k. Undefined without either list.
    """
    longer = np.minimum(np.maximum(lists.lengths, np.diff(_other(lists).offsets)), k)
    undefined = np.full(lists.n_users, np.nan)
    share = np.divide(_overlaps(lists, k)[:, -1], longer, out=undefined, where=_has_both(lists))
    return np.asarray(1 - share)


@metric(
    "affected",
    higher_is_better=False,
    needs="against_lists",
    bounds=(0, 1),
    called="share affected",
)
def affected_per_user(lists: RankedLists, k: int) -> FloatArray:
    """1 where any of the first k places has another item in the other list, else 0.

    Undefined without either list.
    """
    is_affected = (lists.items(k) != _other(lists).first(k)).any(axis=1)
    return np.where(_has_both(lists), is_affected.astype(np.float64), np.nan)


@metric("rbo", needs="against_lists", bounds=(0, 1), called="overlap of ranks")
def rbo_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Rank-biased overlap with the other list down to place k, extrapolated; 1 where they agree.

    Persistence 0.9. Undefined without either list.
    """
    own, other = (np.minimum(n, k) for n in (lists.lengths, np.diff(_other(lists).offsets)))
    values: FloatArray = _extrapolated(_overlaps(lists, k), own, other, PERSISTENCE)
    return values


def _other(lists: RankedLists) -> OtherLists:
    other = lists.side.against
    if other is None:
        raise RuntimeError("a metric of two lists must be registered with needs='against_lists'")
    return other


def _has_both(lists: RankedLists) -> BoolArray:
    return np.asarray((lists.lengths > 0) & (np.diff(_other(lists).offsets) > 0))


def _overlaps(lists: RankedLists, k: int) -> FloatArray:
    """(n_users, k), items that the first 1, 2, ..., k places of both lists have in common."""
    other = _other(lists)
    both = np.stack([lists.items(k), other.first(k)]).astype(np.int64)
    overlaps: FloatArray = _count_overlaps(both, other.n_items)
    return overlaps


@kernel
def _count_overlaps(both: IntArray, n_items: int) -> FloatArray:
    n_lists, n_users, k = both.shape
    overlaps = np.zeros((n_users, k))
    n_seen = np.zeros(n_items, dtype=np.int8)
    for user in range(n_users):
        n = 0
        for place in range(k):
            for one in range(n_lists):
                item = both[one, user, place]
                if item >= 0:
                    n_seen[item] += 1
                    n += n_seen[item] == n_lists
            overlaps[user, place] = n
        for one in range(n_lists):
            for item in both[one, user]:
                if item >= 0:
                    n_seen[item] = 0
    return overlaps


@kernel
def _extrapolated(
    overlaps: FloatArray, own: IntArray, other: IntArray, persistence: float
) -> FloatArray:
    """Rank-biased overlap, extrapolated for lists of any lengths (equation 32 of Webber et al.)."""
    values = np.full(len(overlaps), np.nan)
    for user in range(len(overlaps)):
        shorter, longer = min(own[user], other[user]), max(own[user], other[user])
        if shorter == 0:
            continue
        in_shorter = overlaps[user, shorter - 1]
        total = 0.0
        for depth in range(1, longer + 1):
            agreement = overlaps[user, depth - 1] / depth
            if depth > shorter:
                # beyond its end the shorter list is taken to go on as it did
                agreement += in_shorter * (depth - shorter) / (shorter * depth)
            total += agreement * persistence**depth
        last = (overlaps[user, longer - 1] - in_shorter) / longer + in_shorter / shorter
        value = (1 - persistence) / persistence * total + last * persistence**longer
        # rounding may take it a hair above one
        values[user] = min(value, 1.0)
    return values
