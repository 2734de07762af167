"""Synthetic worlds as bundles, of any size or shaped like the paper's data sets."""

from __future__ import annotations

import math
from dataclasses import replace

from fairrec.core.errors import unknown_name
from fairrec.demo.world import make_world
from fairrec.demo.world_options import WorldOptions, skewed
from fairrec_paper.datasets.bundle import Bundle, Manifest


def synthetic_bundle(options: WorldOptions | None = None) -> Bundle:
    """A world in which users choose by popularity and by taste for two categories."""
    options = options or WorldOptions()
    world = make_world(options)
    group = ", ".join(f"{name}={value}" for name, value in (options.worse_served or {}).items())
    gap = f"planted in {group}: {options.gap}, strength {options.strength:g}" if group else "none"
    n_interactions = world.interactions.height
    manifest = Manifest(
        name=options.name,
        source=f"made by FairRec, seed {options.seed}; gap: {gap}",
        licence="none needed",
        attributes=tuple(options.attributes),
        positive="every interaction",
        order="random",
        n_interactions=n_interactions,
        n_positive=n_interactions,
        n_users=options.n_users,
        n_items=options.n_items,
    )
    return Bundle(world.interactions, world.users, world.items, manifest)


_AGES = {"1": 222, "18": 1103, "25": 2096, "35": 1193, "45": 550, "50": 496, "56": 380}
_YEARS = {str(age): math.exp(-(((age - 23) / 8) ** 2) / 2) + 2e-4 for age in range(1, 112)}
_DECILES = {str(decile): 1.0 for decile in range(10)}

SHAPES: dict[str, WorldOptions] = {
    "movielens-1m": WorldOptions(
        n_users=6040,
        n_items=3883,
        attributes={"gender": {"F": 1709, "M": 4331}, "age": _AGES, "occupation": skewed(21, 0.7)},
        n_categories=18,
        interactions=95,
    ),
    "lfm360k": WorldOptions(
        n_users=267_000,
        n_items=140_000,
        attributes={
            "gender": {"f": 0.27, "m": 0.73},
            "age": _YEARS,
            "country": skewed(239, 1.2, "c"),
        },
        n_categories=200,
        interactions=48,
    ),
    "blackfriday": WorldOptions(
        n_users=5891,
        n_items=3631,
        attributes={
            "gender": {"F": 0.28, "M": 0.72},
            "age": skewed(7, 0.8),
            "occupation": skewed(21, 0.7),
            "city_category": {"A": 0.18, "B": 0.29, "C": 0.53},
            "stay_in_current_city_years": skewed(5, 0.3),
            "marital_status": {"0": 0.58, "1": 0.42},
        },
        n_categories=20,
        interactions=93,
    ),
    "amazon-electronics": WorldOptions(
        n_users=175_878,
        n_items=29_391,
        attributes={"activity": _DECILES, "spend": _DECILES, "top_price": _DECILES},
        n_categories=150,
        interactions=6,
    ),
}
"""Users, items, attribute values and their skew as in the paper's four data sets."""


def shaped_like(shape: str, **changes: object) -> WorldOptions:
    """The options of a data set's shape, with changes."""
    if shape not in SHAPES:
        raise unknown_name("shape", shape, SHAPES)
    options = replace(SHAPES[shape], name=f"synthetic {shape}")
    return replace(options, **changes)
