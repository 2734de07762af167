"""Worlds with a known answer: one group served worse by construction, or none."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest

ATTRIBUTES = {
    "gender": {"F": 0.3, "M": 0.7},
    "age": {"18-24": 0.1, "25-34": 0.4, "35-64": 0.4, "65+": 0.1},
    "job": {f"job{i}": 1 / (i + 1) for i in range(20)},
}


def over_worlds(n_worlds: int) -> pytest.MarkDecorator:
    """Give a test `n_worlds`: a tenth of these in the fast suite, all of them in the slow one."""
    every = pytest.param(n_worlds, marks=pytest.mark.slow)
    return pytest.mark.parametrize("n_worlds", [n_worlds // 10, every])


def random_users(n_users: int, rng: np.random.Generator) -> pl.DataFrame:
    """Users with skewed attributes, so that some groups are very small."""
    columns = {"user_id": np.arange(n_users)}
    for name, weights in ATTRIBUTES.items():
        shares = np.array([*weights.values()])
        columns[name] = rng.choice(list(weights), n_users, p=shares / shares.sum())
    return pl.DataFrame(columns)


def random_world(
    n_users: int = 500,
    worse_served: Mapping[str, str] | None = None,
    effect: float = 0.0,
    n_candidates: int = 20,
    seed: int = 0,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Users, and predictions in list form with one relevant candidate each.

    The score of the relevant candidate is normal around 1, and lower by `effect` for the users
    in `worse_served`; the other candidates' are standard normal.
    """
    rng = np.random.default_rng(seed)
    users = random_users(n_users, rng)
    is_worse = np.full(n_users, bool(worse_served))
    for name, value in (worse_served or {}).items():
        is_worse &= (users[name] == value).to_numpy()
    scores = rng.normal(size=(n_users, n_candidates))
    scores[:, 0] += 1 - effect * is_worse
    labels = np.zeros((n_users, n_candidates), dtype=np.int8)
    labels[:, 0] = 1
    items = np.argsort(rng.random((n_users, 100)), axis=1)[:, :n_candidates]
    predictions = pl.DataFrame(
        {"user_id": users["user_id"], "item_id": items, "score": scores, "label": labels}
    )
    return users, predictions
