"""The named part about how places are spread over all items."""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field

from fairrec.result.parts import Part
from fairrec.statistics.catalogue import Represented, SpreadOver

MOST_VALUES = 50
"""Of an attribute that are told, those of most items."""


class ItemsShown(Part):
    """Items that some list shows."""

    n_items: int
    n_shown: int = Field(description="in the first k places of any list")


class Representation(Part):
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


class CatalogueExposure(Part):
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


def catalogue_part(found: SpreadOver) -> CatalogueExposure:
    """The part of `result.json`."""
    return CatalogueExposure(
        k=found.k,
        n_lists=found.n_lists,
        n_items=found.n_items,
        n_shown=found.n_shown,
        gini=found.gini,
        expected_exposure_loss=found.loss,
        representation={
            one.attribute.name: Representation(
                to_catalogue=_known(one.to_catalogue),
                to_relevance=_known(one.to_relevance),
                shown=_shown(one),
            )
            for one in found.representation
        },
    )


def _shown(found: Represented) -> dict[str, ItemsShown]:
    most = sorted(np.argsort(-found.n_items, kind="stable")[:MOST_VALUES])
    return {
        str(found.attribute.values[at]): ItemsShown(
            n_items=int(found.n_items[at]), n_shown=int(found.n_shown[at])
        )
        for at in most
        if found.n_items[at]
    }


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
