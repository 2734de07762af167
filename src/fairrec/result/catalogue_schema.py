"""The named part about how places are spread over all items."""

from __future__ import annotations

import math

from pydantic import Field

from fairrec.result.parts import Part
from fairrec.statistics.catalogue import SpreadOver


class Representation(Part):
    """Attention-weighted rank fairness by one attribute: 1 where every list meets the target."""

    to_catalogue: float | None = Field(description="target: the share of items with each value")
    to_relevance: float | None = Field(
        description="target: the attention due to them; null where nobody knows what users wanted"
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
            one.attribute: Representation(
                to_catalogue=_known(one.to_catalogue), to_relevance=_known(one.to_relevance)
            )
            for one in found.representation
        },
    )


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
