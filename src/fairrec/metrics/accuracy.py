"""Metrics of accuracy: how well the ranking finds what the user wanted.

An item is relevant where its label is above 0, or where it was held out for the user. All of them
are undefined (NaN) for a user without a relevant candidate or held-out item.
"""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import chunks, map_in_threads
from fairrec.metrics.item_exposure import discounts
from fairrec.metrics.ranked import FEW_LISTS, RankedLists
from fairrec.metrics.registry import metric


def _where_relevant(values: AnyArray | np.bool_, lists: RankedLists) -> FloatArray:
    return np.where(lists.n_relevant > 0, values, np.nan)


def discounted_gain(labels: FloatArray) -> FloatArray:
    """(n_users,), labels in ranked order times the discount of their places, summed."""
    gain = np.zeros(len(labels))
    # place by place, so that a user's value depends on no other user's
    for place, discount in enumerate(discounts(labels.shape[1])):
        gain += labels[:, place] * discount
    return gain


_HITS, _ANY_HIT, _RECIPROCAL_RANK, _PRECISIONS = range(4)
"""What `_expect` gives of a list."""


def _hits(lists: RankedLists, k: int) -> FloatArray:
    return _over_ties((lists.labels(k) > 0).sum(axis=1), lists, k, _HITS)


def _over_ties(values: AnyArray, lists: RankedLists, k: int, what: int) -> FloatArray:
    """Values of one order, on average over the orders of equal scores."""
    ties = lists.ties(k)
    values = values.astype(np.float64)
    if len(ties.lists):
        values[ties.lists] = _expect(ties.size, ties.n_relevant)[what]
    return values


@metric("ndcg", bounds=(0, 1), called="ranking quality")
def ndcg_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Discounted gain of the first k items, as a share of the best possible order's.

    The gain is the label itself; the best possible order is that of the user's own candidates, or
    of the held-out items where there are any.
    """
    ideal = discounted_gain(lists.ideal_labels(k))
    ndcg = np.full(lists.n_users, np.nan)
    np.divide(discounted_gain(lists.expected_labels(k)), ideal, out=ndcg, where=ideal > 0)
    # a mean of labels may be a hair too large
    return np.asarray(np.minimum(ndcg, 1.0))


@metric("mrr", bounds=(0, 1), called="reciprocal rank")
def mrr_per_user(lists: RankedLists, k: int) -> FloatArray:
    """One over the place of the first relevant item, 0 when none is in the first k."""
    is_hit = lists.labels(k) > 0
    values = np.where(is_hit.any(axis=1), 1 / (is_hit.argmax(axis=1) + 1), 0)
    return _where_relevant(_over_ties(values, lists, k, _RECIPROCAL_RANK), lists)


@metric("hit", bounds=(0, 1), called="share with a hit")
def hit_per_user(lists: RankedLists, k: int) -> FloatArray:
    """1 when at least one of the first k items is relevant, 0 otherwise."""
    is_hit = np.asarray((lists.labels(k) > 0).any(axis=1))
    return _where_relevant(_over_ties(is_hit, lists, k, _ANY_HIT), lists)


@metric("recall", bounds=(0, 1), called="relevant items shown")
def recall_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Share of the user's relevant items that are in the first k."""
    hits = _hits(lists, k)
    return _where_relevant(hits / np.maximum(lists.n_relevant, 1), lists)


@metric("precision", bounds=(0, 1), called="relevant among the first")
def precision_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Relevant items among the first k, divided by k, also when the list is shorter."""
    return _where_relevant(_hits(lists, k) / k, lists)


@metric("f1", bounds=(0, 1), called="precision and recall")
def f1_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Harmonic mean of precision and recall: twice the hits, over k plus the relevant items."""
    return _where_relevant(2 * _hits(lists, k) / (k + lists.n_relevant), lists)


@metric("map", bounds=(0, 1), called="mean precision")
def map_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Mean precision at the places of the relevant items in the first k.

    The sum is divided by the smaller of k and the number of relevant items, so a perfect list
    has 1 whatever k is.
    """
    is_hit = lists.labels(k) > 0
    precision = is_hit.cumsum(axis=1) / np.arange(1, is_hit.shape[1] + 1)
    total = _over_ties((precision * is_hit).sum(axis=1), lists, k, _PRECISIONS)
    best = np.maximum(np.minimum(lists.n_relevant, k), 1)
    return _where_relevant(np.minimum(total / best, 1.0), lists)


# a random order has 0.5, so that twice as much is not twice as good
@metric(
    "auc",
    needs=("labels", "candidates"),
    bounds=(0, 1),
    ratio_scale=False,
    called="ranking quality",
)
def auc_per_user(lists: RankedLists) -> FloatArray:
    """Chance that a relevant candidate is scored above one that is not; ties count half.

    Undefined for a user whose candidates are all relevant or all not.
    """
    offsets, scores, labels = lists.candidates.offsets, lists.candidates.scores, lists.all_labels
    n_relevant = lists.n_relevant
    values = np.empty(lists.n_users)

    def work(users: slice) -> None:
        bounds = offsets[users.start : users.stop + 1]
        _auc_by_counting(bounds, scores, labels, n_relevant[users], values[users])

    for _ in map_in_threads(work, chunks(lists.n_users, lists.threads, FEW_LISTS), lists.threads):
        pass
    return values


def pooled_auc(scores: FloatArray, labels: FloatArray) -> float:
    """AUC over the candidates of several users together, as the FairRec paper has it.

    Undefined where all candidates of the group are relevant, or none is.
    """
    is_relevant = labels > 0
    n_relevant = int(is_relevant.sum())
    n_other = len(scores) - n_relevant
    if n_relevant == 0 or n_other == 0:
        return np.nan
    others = np.sort(scores[~is_relevant])
    below = np.searchsorted(others, scores[is_relevant], side="left").sum()
    not_above = np.searchsorted(others, scores[is_relevant], side="right").sum()
    return float((below + not_above) / 2 / n_relevant / n_other)


@kernel
def _auc_by_counting(
    offsets: IntArray, scores: FloatArray, labels: FloatArray, n_relevant: IntArray, out: FloatArray
) -> None:
    """The share of pairs in the right order."""
    for user in range(len(offsets) - 1):
        start, stop = offsets[user], offsets[user + 1]
        n_mine = n_relevant[user]
        n_other = stop - start - n_mine
        if n_mine == 0 or n_other == 0:
            out[user] = np.nan
            continue
        twice = 0
        for i in range(start, stop):
            if labels[i] > 0:
                score = scores[i]
                # against all candidates without a branch, which runs vectorised
                for j in range(start, stop):
                    twice += (scores[j] < score) + (scores[j] <= score)
        # pairs of two relevant ones, and of one with itself, add up to their square
        out[user] = (twice - n_mine * n_mine) / 2 / (n_mine * n_other)


@kernel
def _expect(size: IntArray, n_relevant: IntArray) -> FloatArray:
    """(4, n_lists), means over the orders of equal scores.

    Hits, whether there is one, one over the place of the first, and the precisions at their places.

    Parameters
    ----------
    size, n_relevant : (n_lists, k), of the items that may stand in each place
    """
    n_lists, k = size.shape
    found = np.zeros((4, n_lists))
    for one in range(n_lists):
        place, above, no_hit = 0, 0, 1.0
        while place < k and size[one, place] > 0:
            n, wanted = size[one, place], n_relevant[one, place]
            inside = min(n, k - place)
            found[_HITS, one] += wanted * inside / n
            for at in range(inside):
                if wanted == 0:
                    break
                # those above it, and its share of the others that are wanted and equal
                hits = above + 1 + at * (wanted - 1) / max(n - 1, 1)
                found[_PRECISIONS, one] += wanted / n * hits / (place + at + 1)
                if no_hit > 0:
                    # the first of them stands here if it is none of those before
                    found[_RECIPROCAL_RANK, one] += no_hit * wanted / (n - at) / (place + at + 1)
                    no_hit *= (n - at - wanted) / (n - at)
            above += wanted
            place += inside
        found[_ANY_HIT, one] = 1 - no_hit
    return found
