"""Metrics of items: how much attention each gets, by itself and for what users wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.inputs.catalogue import ExposureLog, Rows
from fairrec.inputs.ids import list_bounds
from fairrec.inputs.side_data import SideData
from fairrec.metrics.item_exposure import Amounts, Share, discounts
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.registry import metric

T = TypeVar("T")


@metric("exposure", side="items", needs=(), bounds=(0, 1), called="attention")
def exposure_per_item(shown: ExposureLog, k: int) -> Share:
    """Mean attention, 1/log2(rank + 1) in the first k places, over the lists it could have been in.

    A list that could have held the item and does not gives it none.
    """
    return Share((places(shown, discounts(k)),), can_be_listed(shown))


@metric("recommended", side="items", needs=(), bounds=(0, 1), called="share of lists")
def recommended_per_item(shown: ExposureLog, k: int) -> Share:
    """Share of the lists it could have been in that have it in their first k places."""
    return Share((places(shown, np.ones(k)),), can_be_listed(shown))


@metric(
    "exposure_to_relevance",
    side="items",
    bounds=(0, np.inf),
    ratio_scale=True,
    called="attention over what is due",
)
def exposure_to_relevance_per_item(shown: ExposureLog, k: int) -> Share:
    """Attention received over what is due where the same places go to what users wanted.

    In the ideal order equally relevant items get the same attention on average, and irrelevant
    ones share the rest (equal expected exposure, Diaz et al. 2020). Over the lists of users with
    known relevance.
    """
    is_known = knows_relevance(shown)
    received = places(shown, discounts(k), is_known)
    return Share((received,), due_to_relevance(shown, k), is_mean=False)


def places(
    shown: ExposureLog, per_place: FloatArray, is_counted: FloatArray | None = None
) -> Amounts:
    """What the first places of each list give.

    Parameters
    ----------
    per_place : (k,), of each place
    is_counted : (n_lists,), 0 for lists that give nothing; None where all count
    """
    k = len(per_place)
    items = _once(shown, _first_items, k)
    amounts = np.tile(per_place, shown.n_lists)
    if is_counted is not None:
        amounts *= np.repeat(is_counted, k)
    return Amounts(np.arange(shown.n_lists + 1) * k, items, amounts)


def _once(shown: ExposureLog, make: Callable[[ExposureLog, int], T], k: int = 0) -> T:
    """What is made of the lists, made once."""
    key = make.__name__, k
    if key not in shown.made:
        shown.made[key] = make(shown, k)
    made: T = shown.made[key]
    return made


def _first_items(shown: ExposureLog, k: int) -> IntArray:
    """(n_lists * k,), the first items, by place in the catalogue; their number for none."""
    first = RankedLists(shown.candidates, k, SideData(), shown.threads).items(k)
    # the last one stands for no item
    return np.append(shown.items, len(shown.catalogue.item_keys))[first].ravel()


def _listed_rows(shown: ExposureLog, _: int) -> Rows:
    """All candidates of lists, by place in the catalogue."""
    return Rows(shown.candidates.offsets, shown.items[shown.candidates.items])


def can_be_listed(shown: ExposureLog) -> tuple[Amounts, ...]:
    """The lists in which each item could have stood."""
    candidates = shown.candidates
    if not shown.is_of_all:
        return (Amounts(*_once(shown, _listed_rows), np.ones(len(candidates.items))),)
    is_list = (np.diff(candidates.offsets) > 0).astype(np.float64)
    return _everywhere(shown, is_list)


def knows_relevance(shown: ExposureLog) -> FloatArray:
    """(n_lists,), 1 where it is known what the user of a list wanted."""
    if shown.held_out is not None:
        return (np.diff(shown.held_out.rows.offsets) > 0).astype(np.float64)
    lists = RankedLists(shown.candidates, 0, SideData())
    return (lists.n_relevant > 0).astype(np.float64)


class Ideal(NamedTuple):
    """What each list would give if its places went to what its user wanted.

    Parameters
    ----------
    rows : items of a catalogue list by list: what was wanted, or all candidates
    due : (n_rows,), to each of them
    to_others : (n_lists,), to each other item that could have stood there
    """

    rows: Rows
    due: FloatArray
    to_others: FloatArray


def ideal_exposure(shown: ExposureLog, k: int) -> Ideal:
    """The first k places of lists in the ideal order, where those wanted alike share theirs."""
    return _once(shown, _ideal, k)


def _ideal(shown: ExposureLog, k: int) -> Ideal:
    candidates = shown.candidates
    n_places = np.minimum(np.diff(candidates.offsets), k)
    n_places = np.where(knows_relevance(shown) > 0, n_places, 0)
    up_to = np.concatenate([[0.0], np.cumsum(discounts(k))])
    to_others, none = np.zeros(shown.n_lists), np.zeros(shown.n_lists, dtype=np.int64)
    if shown.held_out is None:
        assert candidates.labels is not None
        due = np.zeros(len(candidates.items))
        _share_candidates(candidates.offsets, candidates.labels, n_places, up_to, due)
        return Ideal(_once(shown, _listed_rows), due, to_others)
    rows, gains = shown.held_out
    n_seen = none if shown.seen is None else np.diff(shown.seen.offsets)
    n_items = len(shown.catalogue.item_keys)
    # what is wanted and in no catalogue takes a place, and is none of the items there
    n_wanted = np.diff(list_bounds((rows.items < n_items).astype(np.int64))[rows.offsets])
    n_others = n_items - n_seen - n_wanted
    due = np.zeros(len(gains))
    _share_wanted(rows.offsets, gains, n_places, n_others, up_to, due, to_others)
    return Ideal(rows, due, to_others)


def due_to_relevance(shown: ExposureLog, k: int) -> tuple[Amounts, ...]:
    """What each item would get if the places of each list went to what its user wanted."""
    rows, due, to_others = ideal_exposure(shown, k)
    if not to_others.any():
        return (Amounts(*rows, due),)
    beyond = due - np.repeat(to_others, np.diff(rows.offsets))
    return (Amounts(*rows, beyond), *_everywhere(shown, to_others))


def _everywhere(shown: ExposureLog, per_list: FloatArray) -> tuple[Amounts, ...]:
    """The same from a list for every item but those its user had before."""
    nothing = np.zeros(shown.n_lists + 1, dtype=np.int64)
    all_items = Amounts(nothing, nothing[:0], np.zeros(0), per_list)
    if shown.seen is None:
        return (all_items,)
    taken_off = np.repeat(-per_list, np.diff(shown.seen.offsets))
    return (all_items, Amounts(shown.seen.offsets, shown.seen.items, taken_off))


@kernel
def _share_ties(gains: FloatArray, n_places: int, up_to: FloatArray, due: FloatArray) -> None:
    """Give the places to gains in falling order; equal ones share theirs.

    Parameters
    ----------
    up_to : (k + 1,), the attention of 0 to k first places together
    """
    start = 0
    while start < len(gains):
        stop = start + 1
        while stop < len(gains) and gains[stop] == gains[start]:
            stop += 1
        shared = up_to[min(stop, n_places)] - up_to[min(start, n_places)]
        due[start:stop] = shared / (stop - start)
        start = stop


@kernel
def _share_wanted(
    offsets: IntArray,
    gains: FloatArray,
    n_places: IntArray,
    n_left: IntArray,
    up_to: FloatArray,
    due: FloatArray,
    to_others: FloatArray,
) -> None:
    """The same for lists from the whole catalogue: all other items share what is left."""
    for one in range(len(offsets) - 1):
        first, end = offsets[one], offsets[one + 1]
        _share_ties(gains[first:end], n_places[one], up_to, due[first:end])
        left = up_to[n_places[one]] - up_to[min(end - first, n_places[one])]
        if n_left[one] > 0:
            to_others[one] = left / n_left[one]


@kernel
def _share_candidates(
    offsets: IntArray, labels: FloatArray, n_places: IntArray, up_to: FloatArray, due: FloatArray
) -> None:
    """The same for lists chosen from their candidates."""
    for one in range(len(offsets) - 1):
        first, end = offsets[one], offsets[one + 1]
        gains = np.maximum(labels[first:end], 0.0)
        order = np.argsort(-gains)
        shared = np.zeros(end - first)
        _share_ties(gains[order], n_places[one], up_to, shared)
        for at in range(end - first):
            due[first + order[at]] = shared[at]
