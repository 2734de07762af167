"""A seeded world of users with tastes, in which one group can be hard to serve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.arrays import BoolArray, FloatArray, IntArray

ATTRIBUTES: dict[str, dict[str, float]] = {
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
CATEGORIES = (
    *("action", "adventure", "comedy", "crime", "documentary", "drama"),
    *("family", "fantasy", "horror", "music", "romance", "science"),
)


@dataclass(frozen=True, slots=True)
class World:
    """Users, items, what users did in training, and the held-out target of each.

    Parameters
    ----------
    users : `user_id` and attributes
    items : `item_id`, `categories`
    history : `user_id`, `item_id`
    candidates : `user_id`, `item_id`, `label`: one target and sampled other items a user
    """

    users: pl.DataFrame
    items: pl.DataFrame
    history: pl.DataFrame
    candidates: pl.DataFrame


def synthetic_world(
    n_users: int = 4000,
    n_items: int = 500,
    worse_served: Mapping[str, str] | None = None,
    n_candidates: int = 50,
    seed: int = 0,
) -> World:
    """A world in which users choose by popularity and by taste for a few categories.

    The users of `worse_served` choose with hardly any taste, so that no recommender can learn
    what they want: they are served worse by construction.
    """
    rng = np.random.default_rng(seed)
    attributes = {
        name: rng.choice(
            list(shares), n_users, p=np.array([*shares.values()]) / sum(shares.values())
        )
        for name, shares in ATTRIBUTES.items()
    }
    is_worse = np.full(n_users, bool(worse_served))
    for name, value in (worse_served or {}).items():
        is_worse &= attributes[name] == value

    has_category = _categories_of_items(n_items, rng)
    chosen = _choices(n_users, has_category, is_worse, rng)
    user_ids = np.array([f"u{number:05d}" for number in range(n_users)])
    item_ids = np.array([f"i{number:04d}" for number in range(n_items)])
    labels = [[CATEGORIES[c] for c in np.flatnonzero(row)] for row in has_category]
    candidates, targets = _candidates(chosen, n_candidates, rng)
    in_history = chosen.copy()
    in_history[np.arange(n_users), targets] = False
    history_users, history_items = np.nonzero(in_history)
    return World(
        users=pl.DataFrame({"user_id": user_ids, **attributes}),
        items=pl.DataFrame({"item_id": item_ids, "categories": labels}),
        history=pl.DataFrame(
            {"user_id": user_ids[history_users], "item_id": item_ids[history_items]}
        ),
        candidates=pl.DataFrame(
            {
                "user_id": np.repeat(user_ids, candidates.shape[1]),
                "item_id": item_ids[candidates.ravel()],
                "label": (candidates == targets[:, None]).astype(np.int8).ravel(),
            }
        ),
    )


def _categories_of_items(n_items: int, rng: np.random.Generator) -> BoolArray:
    has_category = rng.random((n_items, len(CATEGORIES))) < 0.08
    has_category[np.arange(n_items), rng.integers(len(CATEGORIES), size=n_items)] = True
    return has_category


def _choices(
    n_users: int, has_category: BoolArray, is_worse: BoolArray, rng: np.random.Generator
) -> BoolArray:
    """(n_users, n_items), what each user chose: 20 to 50 items by popularity and taste."""
    n_items = len(has_category)
    popularity = rng.permutation(-0.7 * np.log(np.arange(1, n_items + 1)))
    likes = rng.random((n_users, len(CATEGORIES))) < 2 / len(CATEGORIES)
    match = (likes.astype(np.float64) @ has_category.T.astype(np.float64)) > 0
    appeal = popularity + np.where(is_worse, 0.5, 6.0)[:, None] * match
    noisy = appeal + rng.gumbel(size=appeal.shape)
    n_chosen = rng.integers(20, 51, size=n_users)
    places = np.argsort(np.argsort(-noisy, axis=1), axis=1)
    return np.asarray(places < n_chosen[:, None])


def _candidates(
    chosen: BoolArray, n_candidates: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """(n_users, n_candidates) one target among items never chosen, and the targets."""
    keys: FloatArray = rng.random(chosen.shape)
    targets = np.argmax(np.where(chosen, keys, -1), axis=1)
    others = np.argsort(np.where(chosen, np.inf, keys), axis=1)[:, : n_candidates - 1]
    candidates = np.concatenate([targets[:, None], others], axis=1)
    # in random order, or a model that ties everything would look perfect
    return rng.permuted(candidates, axis=1), targets
