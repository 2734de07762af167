"""What a synthetic world looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fairrec.core.audit_options import Seed
from fairrec.core.errors import InputError, unknown_name
from fairrec.core.option_types import Form, Number, Pairs, Whole, split_pairs
from fairrec.core.options import Option, Options, options

Shares = Mapping[str, float]

WORLD = "World"
GAP = "Gap"

DEMO_ATTRIBUTES: dict[str, Shares] = {
    "gender": {"F": 0.45, "M": 0.55},
    "age": {
        "under 18": 0.05,
        "18-24": 0.2,
        "25-34": 0.33,
        "35-44": 0.2,
        "45-55": 0.14,
        "56+": 0.08,
    },
    "occupation": {
        "student": 0.25,
        "office": 0.3,
        "trade": 0.2,
        "health": 0.12,
        "arts": 0.08,
        "retired": 0.05,
    },
}


def skewed(n_values: int, skew: float = 1.0, prefix: str = "") -> dict[str, float]:
    """Values whose shares fall with their number."""
    return {f"{prefix}{i}": (i + 1.0) ** -skew for i in range(n_values)}


def _parse_attributes(given: Any) -> Mapping[str, Shares]:
    """Shares by attribute and value; from text such as gender:2,age:7 made up."""
    if isinstance(given, Mapping):
        return given
    return {name: skewed(int(n), 0.5) for name, n in split_pairs(given, between=":").items()}


@options
class WorldOptions(Options):
    """What a world looks like.

    Parameters
    ----------
    attributes : attribute -> value -> share of users (any positive numbers)
    gap : what sets the group apart. accuracy: they choose at random, so that no model can predict
        them. diversity: they choose from one category only. popularity: they choose what
        few others choose.
    """

    name: Annotated[str, Option("What it is called", WORLD)] = "synthetic"
    n_users: Annotated[Whole, Field(ge=1), Option("Number of users", WORLD)] = 4000
    n_items: Annotated[Whole, Field(ge=1), Option("Number of items", WORLD)] = 500
    attributes: Annotated[
        Any,
        BeforeValidator(_parse_attributes),
        Form("name:number, such as gender:2,age:7", "NAME:N", is_list=True),
        Option(
            "Attributes and their numbers of values: gender:2,age:7",
            WORLD,
            default=", ".join(f"{name}:{len(shares)}" for name, shares in DEMO_ATTRIBUTES.items()),
        ),
    ] = field(default_factory=lambda: DEMO_ATTRIBUTES)
    n_categories: Annotated[Whole, Field(ge=2), Option("Number of categories", WORLD)] = 12
    interactions: Annotated[
        Number, Field(ge=0), Option("Mean number of interactions of a user", WORLD)
    ] = 35.0
    skew: Annotated[
        Number,
        Field(ge=0),
        Option("How fast popularity falls with an item's rank; 0 for equally popular items", WORLD),
    ] = 0.6
    taste: Annotated[
        Number,
        Field(ge=0, le=1),
        Option("Share of a user's interactions that lie in their favourite categories", WORLD),
    ] = 0.85
    worse_served: Annotated[
        Annotated[
            Mapping[str, str], Pairs, Form("attribute=value", "ATTRIBUTE=VALUE", is_list=True)
        ]
        | None,
        Option("The group with the gap: gender=F,age=56+", GAP, default="none"),
    ] = None
    gap: Annotated[
        Literal["accuracy", "diversity", "popularity"], Option("What sets that group apart", GAP)
    ] = "accuracy"
    strength: Annotated[
        Number, Field(ge=0, le=1), Option("0 for no gap, 1 for the largest", GAP)
    ] = 1.0
    seed: Seed = 0

    def __post_init__(self) -> None:
        if self.n_items < self.n_categories:
            raise InputError(
                f"A world needs an item for each of its {self.n_categories:,} categories, and has "
                f"{self.n_items:,} items."
            )
        for name, value in (self.worse_served or {}).items():
            if name not in self.attributes:
                raise unknown_name("attribute", name, self.attributes)
            if value not in self.attributes[name]:
                raise unknown_name(f"value of {name}", value, self.attributes[name])
