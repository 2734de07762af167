"""How unequal values are between users, and how lists are spread over a catalogue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, Field

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.inputs.catalogue import ExposureLog
from fairrec.inputs.users import Attribute, Value
from fairrec.metrics.item_exposure import discounts
from fairrec.metrics.item_metrics import places


def gini(values: FloatArray, n: FloatArray | None = None) -> float:
    """The Gini index: half of the mean distance between two users, over the mean.

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
"""Values of an attribute that are listed, those of most items."""


class ItemsShown(BaseModel, frozen=True, extra="forbid"):
    """How many items lists show."""

    n_items: int
    n_shown: int = Field(description="in the first k places of any list")


class CatalogueExposure(BaseModel, frozen=True, extra="forbid"):
    """How the first k places of lists are spread over the items of the catalogue."""

    k: int
    n_lists: int
    n_items: int
    n_shown: int = Field(description="items in the first k places of any list")
    gini: float = Field(description="of the attention that items get; 0 where all get the same")
    by_value: dict[str, dict[str, ItemsShown]] = Field(
        description=f"attribute -> value -> items, the {MOST_VALUES} values of most items"
    )


def measure_catalogue(
    shown: ExposureLog, k: int, attributes: Sequence[Attribute]
) -> CatalogueExposure:
    """The measures at one depth.

    Parameters
    ----------
    attributes : of the units of the catalogue
    """
    n_items = len(shown.catalogue.item_keys)
    per_item = places(shown, discounts(k)).per_item(n_items)
    by_value = {}
    for attribute in attributes:
        codes = attribute.codes[shown.catalogue.unit_of_item]
        n = np.bincount(codes, minlength=len(attribute.values))
        n_shown = np.bincount(codes[per_item > 0], minlength=len(attribute.values))
        by_value[attribute.name] = items_by_value(attribute.values, n, n_shown)
    return CatalogueExposure(
        k=k,
        n_lists=int((np.diff(shown.candidates.offsets) > 0).sum()),
        n_items=n_items,
        n_shown=int((per_item > 0).sum()),
        gini=gini(per_item) if per_item.any() else 0.0,
        by_value=by_value,
    )


def items_by_value(
    values: Sequence[Value], n_items: IntArray, n_shown: IntArray
) -> dict[str, ItemsShown]:
    """Items of each value, and those shown."""
    most = sorted(np.argsort(-n_items, kind="stable")[:MOST_VALUES])
    return {
        str(values[at]): ItemsShown(n_items=int(n_items[at]), n_shown=int(n_shown[at]))
        for at in most
        if n_items[at]
    }
