"""What a synthetic world looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from fairrec.core.audit_options import Seed
from fairrec.core.errors import InputError, unknown_name
from fairrec.core.kinds import TEXT, Kind, number, one_of, pairs, pairs_in, whole
from fairrec.core.options import Option, Options

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


_shares = pairs(number(above=0).parse, "value=share")


def _attributes(given: Any) -> Mapping[str, Shares]:
    """Shares by attribute and value; from text such as gender:2,age:7 made up."""
    if isinstance(given, Mapping):
        found = {name: _shares.parse(shares) for name, shares in pairs_in(given).items()}
    else:
        parse = whole(1).parse
        found = {name: skewed(parse(n), 0.5) for name, n in pairs_in(given, between=":").items()}
    if not found:
        raise ValueError
    return found


@dataclass(frozen=True)
class WorldOptions(Options):
    """What a world looks like.

    Parameters
    ----------
    attributes : attribute -> value -> share of users (any positive numbers)
    gap : what sets the group apart. accuracy: they choose at random, so nobody can predict
        them. diversity: they choose from one category only. popularity: they choose what
        few others choose.
    """

    name: Annotated[str, Option(TEXT, "What it is called", WORLD)] = "synthetic"
    n_users: Annotated[int, Option(whole(1), "Number of users", WORLD)] = 4000
    n_items: Annotated[int, Option(whole(1), "Number of items", WORLD)] = 500
    attributes: Annotated[
        Mapping[str, Shares],
        Option(
            Kind(_attributes, "name:number, such as gender:2,age:7", "NAME:N", is_list=True),
            "Attributes and their numbers of values: gender:2,age:7",
            WORLD,
            default=", ".join(f"{name}:{len(shares)}" for name, shares in DEMO_ATTRIBUTES.items()),
        ),
    ] = field(default_factory=lambda: DEMO_ATTRIBUTES)
    n_categories: Annotated[int, Option(whole(2), "Number of categories", WORLD)] = 12
    interactions: Annotated[
        float, Option(number(least=0), "Mean number of interactions of a user", WORLD)
    ] = 35.0
    skew: Annotated[
        float,
        Option(
            number(least=0),
            "How fast popularity falls with an item's rank; 0 for equally popular items",
            WORLD,
        ),
    ] = 0.6
    taste: Annotated[
        float,
        Option(
            number(least=0, most=1),
            "Share of a user's interactions that lie in their favourite categories",
            WORLD,
        ),
    ] = 0.85
    worse_served: Annotated[
        Mapping[str, str] | None,
        Option(
            pairs(TEXT.parse, "attribute=value", "ATTRIBUTE=VALUE").or_none(),
            "The group with the gap: gender=F,age=56+",
            GAP,
            default="none",
        ),
    ] = None
    gap: Annotated[
        Literal["accuracy", "diversity", "popularity"],
        Option(one_of("accuracy", "diversity", "popularity"), "What sets that group apart", GAP),
    ] = "accuracy"
    strength: Annotated[
        float, Option(number(least=0, most=1), "0 for no gap, 1 for the largest", GAP)
    ] = 1.0
    seed: Seed = 0

    def check(self) -> None:
        """Refuse a world that cannot be."""
        if self.n_items < self.n_categories:
            raise InputError(
                f"A world needs an item for each of its {self.n_categories:,} categories, and has "
                f"{self.n_items:,} items."
            )
        if "user_id" in self.attributes:
            raise InputError("An attribute cannot be called user_id. Choose another name.")
        for name, value in (self.worse_served or {}).items():
            if name not in self.attributes:
                raise unknown_name("attribute", name, self.attributes)
            if value not in self.attributes[name]:
                raise unknown_name(f"value of {name}", value, self.attributes[name])
