"""How places are spread over all items: one number for the catalogue, whatever group is asked for.

Raj and Ekstrand (2022) compare such measures. Attention-weighted rank fairness is one minus the
Jensen-Shannon divergence, in bits, between the attention that a list gives to the values of an
attribute and a target, averaged over lists (Sapiezynski et al. 2019; the distance as in the TREC
2021 fair ranking track). Expected-exposure loss is the squared distance between the attention that
items get in a list and that in its ideal order, averaged over lists (Diaz et al. 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import map_in_threads
from fairrec.inputs.catalogue import Shown
from fairrec.inputs.users import Attribute
from fairrec.metrics.attention import discounts
from fairrec.metrics.of_items import due_to_relevance, ideal_of, knows_relevance, places
from fairrec.statistics.inequality import gini


@dataclass(frozen=True, slots=True)
class Represented:
    """How near lists come to a target in the values of an attribute; 1 where they meet it.

    Parameters
    ----------
    n_items, n_shown : (n_values,), items with each value, and those in the first places of any list
    """

    attribute: Attribute
    to_catalogue: float
    to_relevance: float | None
    n_items: IntArray
    n_shown: IntArray


@dataclass(frozen=True, slots=True)
class SpreadOver:
    """How the first k places of lists are spread over the items of the catalogue.

    Parameters
    ----------
    n_shown : items in the first k places of any list
    gini : of the attention of all items, 0 where they have the same
    loss : expected-exposure loss; None where it is not known what users wanted
    """

    k: int
    n_lists: int
    n_items: int
    n_shown: int
    gini: float
    loss: float | None
    representation: tuple[Represented, ...]


def spread_over(
    shown: Shown, k: int, attributes: Sequence[Attribute], threads: int = 1
) -> SpreadOver:
    """The measures at one depth.

    Parameters
    ----------
    attributes : of the units of the catalogue
    """
    n_items = len(shown.catalogue.item_keys)
    received = places(shown, discounts(k))
    per_item = received.per_item(n_items)
    due = _due_per_item(shown, k, n_items) if shown.has_relevance else None
    of_item = shown.catalogue.unit_of_item

    def representation(attribute: Attribute) -> Represented:
        codes = attribute.codes[of_item].astype(np.int64)
        n_values = len(attribute.values)
        targets = [np.ones(n_items)] + ([] if due is None else [due])
        found = [
            _awrf(received.items, discounts(k), np.append(codes, n_values), weights)
            for weights in (np.bincount(codes, one, n_values).astype(np.float64) for one in targets)
        ]
        return Represented(
            attribute,
            found[0],
            None if due is None else found[1],
            n_items=np.bincount(codes, minlength=n_values),
            n_shown=np.bincount(codes[per_item > 0], minlength=n_values),
        )

    return SpreadOver(
        k,
        int((np.diff(shown.candidates.offsets) > 0).sum()),
        n_items,
        int((per_item > 0).sum()),
        gini(per_item) if per_item.any() else 0.0,
        _loss(shown, k) if shown.has_relevance else None,
        tuple(map_in_threads(representation, attributes, threads)),
    )


def _due_per_item(shown: Shown, k: int, n_items: int) -> FloatArray:
    total = np.zeros(n_items)
    for part in due_to_relevance(shown, k):
        total += part.per_item(n_items)
    return np.maximum(total, 0.0)


def _awrf(items: IntArray, per_place: FloatArray, value_of: IntArray, target: FloatArray) -> float:
    """Mean over lists with an item of the catalogue; NaN without any."""
    if not target.sum():
        return float("nan")
    total, n_lists = _divergences(items, per_place, value_of, target / target.sum())
    return float(1 - total / n_lists) if n_lists else float("nan")


def _loss(shown: Shown, k: int) -> float:
    ideal, is_known = ideal_of(shown, k), knows_relevance(shown)
    received = places(shown, discounts(k), is_known)
    n_items = len(shown.catalogue.item_keys)
    due = np.where(ideal.rows.items < n_items, ideal.due, 0.0)
    squares = float((due**2).sum() + (ideal.n_others * ideal.to_others**2).sum())
    squares += _against_ideal(
        received.items, received.amounts, k, *ideal.rows, ideal.due, ideal.to_others, n_items
    )
    return squares / max(1.0, float(is_known.sum()))


@kernel
def _divergences(
    items: IntArray, per_place: FloatArray, value_of: IntArray, target: FloatArray
) -> tuple[float, int]:
    """The sum over lists of the divergence in bits, and how many lists count."""
    k, n_values = len(per_place), len(target)
    given = np.zeros(n_values + 1)
    total, n_lists = 0.0, 0
    for first in range(0, len(items), k):
        given[:] = 0.0
        for place in range(k):
            given[value_of[items[first + place]]] += per_place[place]
        whole = given[:n_values].sum()
        if whole == 0:
            continue
        n_lists += 1
        for value in range(n_values):
            share, aim = given[value] / whole, target[value]
            middle = (share + aim) / 2
            if share > 0:
                total += share * np.log2(share / middle) / 2
            if aim > 0:
                total += aim * np.log2(aim / middle) / 2
    return total, n_lists


@kernel
def _against_ideal(
    items: IntArray,
    amounts: FloatArray,
    k: int,
    offsets: IntArray,
    ideal_items: IntArray,
    due: FloatArray,
    to_others: FloatArray,
    n_items: int,
) -> float:
    """The sum over places of received (received - 2 due), which squares of both sides lack."""
    owner = np.full(n_items + 1, -1, dtype=np.int64)
    is_due = np.zeros(n_items + 1)
    total = 0.0
    for one in range(len(offsets) - 1):
        for row in range(offsets[one], offsets[one + 1]):
            owner[ideal_items[row]] = one
            is_due[ideal_items[row]] = due[row]
        for place in range(one * k, (one + 1) * k):
            item, received = items[place], amounts[place]
            if item < n_items:
                wanted = is_due[item] if owner[item] == one else to_others[one]
                total += received * (received - 2 * wanted)
    return total
