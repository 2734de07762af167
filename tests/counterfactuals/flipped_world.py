"""People, candidates, and models planted to use gender directly, by a proxy, or not at all."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import fairrec

N_USERS = 600
N_ITEMS = 12


class People(NamedTuple):
    """The tables; a town is where most of one gender live."""

    candidates: pl.DataFrame
    users: pl.DataFrame


@cache
def people(seed: int = 0) -> People:
    """Every user is after one of twelve items."""
    rng = np.random.default_rng(seed)
    gender = rng.choice(["F", "M"], N_USERS)
    town = np.where(rng.random(N_USERS) < 0.95, np.where(gender == "F", "up", "down"), "mid")
    users = pl.DataFrame(
        {
            "user_id": np.arange(N_USERS),
            "gender": gender,
            "town": town,
            "age": rng.choice([20, 40, 60], N_USERS),
        }
    )
    target = wanted_items()
    labels = [[int(item == one) for item in range(N_ITEMS)] for one in target]
    candidates = pl.DataFrame(
        {
            "user_id": np.arange(N_USERS),
            "item_id": [list(range(N_ITEMS))] * N_USERS,
            "label": labels,
        }
    )
    return People(candidates, users)


@cache
def wanted_items() -> np.ndarray:
    return np.random.default_rng(1).integers(0, N_ITEMS, N_USERS)


def known_well(user_ids: Any, item_ids: Any, is_known: Any) -> np.ndarray:
    """High scores for what users want, where the model knows them well; else for anything."""
    noise = ((user_ids * 7919 + item_ids * 104729) % 1009) / 1009
    is_wanted = wanted_items()[user_ids] == item_ids
    return noise + np.where(is_known, 2.0, 0.0) * is_wanted


def direct(user_ids: Any, item_ids: Any, gender: Any, town: Any, age: Any = 0) -> np.ndarray:
    """Serves women badly because they are women."""
    return known_well(user_ids, item_ids, gender == "M")


def by_proxy(user_ids: Any, item_ids: Any, gender: Any, town: Any, age: Any = 0) -> np.ndarray:
    """Serves women badly because of where they live."""
    return known_well(user_ids, item_ids, town != "up")


def blind(user_ids: Any, item_ids: Any, gender: Any, town: Any, age: Any = 0) -> np.ndarray:
    """Serves everybody alike."""
    return known_well(user_ids, item_ids, True)


class Counted:
    """A model that counts what it is asked, pair by pair."""

    def __init__(self, function: Any) -> None:
        self.function, self.pairs = function, []

    def __call__(self, user_ids: Any, item_ids: Any, **features: Any) -> np.ndarray:
        gender = features.get("gender", np.full(len(user_ids), ""))
        self.pairs += zip(user_ids.tolist(), item_ids.tolist(), gender.tolist(), strict=True)
        return self.function(user_ids, item_ids, **features)


def flipped(scorer: Any = direct, **given: Any) -> fairrec.CounterfactualResult:
    """The counterfactual of gender, small."""
    world = people()
    defaults: dict[str, Any] = {
        "users": world.users,
        "by": ["gender", "age"],
        "features": "users:gender,town",
        "attribute": "gender",
        "metrics": ["changed@3", "affected@3", "mrr@3"],
        "permutations": 199,
    }
    candidates = given.pop("candidates", world.candidates)
    return fairrec.counterfactual(candidates, scorer=scorer, **{**defaults, **given})
