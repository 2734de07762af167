"""How unequal values are: between users, and over the items of a catalogue.

Raj and Ekstrand (2022) compare such measures. Attention-weighted rank fairness is one minus the
Jensen-Shannon divergence, in bits, between the attention that a list gives to the values of an
attribute and a target, averaged over lists (Sapiezynski et al. 2019; the distance as in the TREC
2021 fair ranking track). Expected-exposure loss is the squared distance between the attention that
items get in a list and that in its ideal order, averaged over lists (Diaz et al. 2020).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, Field

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import map_in_threads
from fairrec.inputs.catalogue import ExposureLog
from fairrec.inputs.users import Attribute, Value
from fairrec.metrics.item_exposure import discounts
from fairrec.metrics.item_metrics import due_to_relevance, ideal_exposure, knows_relevance, places


def gini(values: FloatArray, n: FloatArray | None = None) -> float:
    """Half of the mean distance between two users, over the mean.

    Parameters
    ----------
    n : users who have each value; None where each is a user's

    >>> import numpy as np
    >>> gini(np.array([0.0, 0.0, 0.0, 1.0])), gini(np.array([0.0, 1.0]), np.array([3.0, 1.0]))
    (0.75, 0.75)
    """
    n = np.ones(len(values)) if n is None else n
    order = np.argsort(values, kind="stable")
    values, n = values[order], n[order]
    n_up_to = np.cumsum(n)
    # users below minus users above
    rank = 2 * n_up_to - n - n_up_to[-1]
    return float((rank * n * values).sum() / (n_up_to[-1] * (n * values).sum()))


MOST_VALUES = 50
"""Of an attribute that are told, those of most items."""


class ItemsShown(BaseModel, frozen=True, extra="forbid"):
    """Items that some list shows."""

    n_items: int
    n_shown: int = Field(description="in the first k places of any list")


class Representation(BaseModel, frozen=True, extra="forbid"):
    """How one attribute is represented.

    Attention-weighted rank fairness is 1 where every list meets the target.
    """

    to_catalogue: float | None = Field(description="target: the share of items with each value")
    to_relevance: float | None = Field(
        description="target: the attention due to them; null where nobody knows what users wanted"
    )
    shown: dict[str, ItemsShown] = Field(
        default_factory=dict, description=f"by value, the {MOST_VALUES} of most items"
    )


class CatalogueExposure(BaseModel, frozen=True, extra="forbid"):
    """How the first k places of lists are spread over the items of the catalogue."""

    k: int
    n_lists: int
    n_items: int
    n_shown: int = Field(description="items in the first k places of any list")
    gini: float = Field(description="of the attention that items get; 0 where all get the same")
    expected_exposure_loss: float | None = Field(
        description="squared distance from the ideal order, mean over lists; null where nobody "
        "knows what users wanted"
    )
    representation: dict[str, Representation] = Field(description="by attribute")


def measure_spread(
    shown: ExposureLog, k: int, attributes: Sequence[Attribute], threads: int = 1
) -> CatalogueExposure:
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

    def representation(attribute: Attribute) -> Representation:
        codes = attribute.codes[of_item].astype(np.int64)
        n_values = len(attribute.values)
        targets = [np.ones(n_items)] + ([] if due is None else [due])
        found = [
            _awrf(received.items, discounts(k), np.append(codes, n_values), weights)
            for weights in (np.bincount(codes, one, n_values).astype(np.float64) for one in targets)
        ]
        return Representation(
            to_catalogue=found[0],
            to_relevance=None if due is None else found[1],
            shown=items_by_value(
                attribute.values,
                np.bincount(codes, minlength=n_values),
                np.bincount(codes[per_item > 0], minlength=n_values),
            ),
        )

    names = (attribute.name for attribute in attributes)
    return CatalogueExposure(
        k=k,
        n_lists=int((np.diff(shown.candidates.offsets) > 0).sum()),
        n_items=n_items,
        n_shown=int((per_item > 0).sum()),
        gini=gini(per_item) if per_item.any() else 0.0,
        expected_exposure_loss=_loss(shown, k) if shown.has_relevance else None,
        representation=dict(
            zip(names, map_in_threads(representation, attributes, threads), strict=True)
        ),
    )


def items_by_value(
    values: Sequence[Value], n_items: IntArray, n_shown: IntArray
) -> dict[str, ItemsShown]:
    """Items of each value, and those shown; of very many values those of most items."""
    most = sorted(np.argsort(-n_items, kind="stable")[:MOST_VALUES])
    return {
        str(values[at]): ItemsShown(n_items=int(n_items[at]), n_shown=int(n_shown[at]))
        for at in most
        if n_items[at]
    }


def _due_per_item(shown: ExposureLog, k: int, n_items: int) -> FloatArray:
    total = np.zeros(n_items)
    for part in due_to_relevance(shown, k):
        total += part.per_item(n_items)
    return np.maximum(total, 0.0)


def _awrf(
    items: IntArray, per_place: FloatArray, value_of: IntArray, target: FloatArray
) -> float | None:
    """Mean over lists with an item of the catalogue; None without any."""
    if not target.sum():
        return None
    total, n_lists = _divergences(items, per_place, value_of, target / target.sum())
    return float(1 - total / n_lists) if n_lists else None


def _loss(shown: ExposureLog, k: int) -> float:
    ideal, is_known = ideal_exposure(shown, k), knows_relevance(shown)
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
