"""Small tables of users that can be audited as they are and as counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import fairrec
from tests.grouped_options import group_options

BY = "gender,age:20,country"


def tables(seed: int = 1, n_users: int = 600, n_positive: int = 1) -> dict[str, Any]:
    """Scored candidates in which women are served worse; some users have no row or no label."""
    rng = np.random.default_rng(seed)
    countries = rng.choice(["a", "b", "c", "?"], n_users)
    users = pl.DataFrame(
        {
            "user_id": np.arange(n_users),
            "gender": rng.choice(["F", "M"], n_users),
            "age": rng.integers(18, 70, n_users),
            "country": [None if one == "?" else str(one) for one in countries],
        }
    )
    n_lists, length = n_users - 20, 8
    labels = np.zeros((n_lists, length))
    for row in labels[15:]:
        row[rng.choice(length, n_positive, replace=False)] = 1
    is_man = (users["gender"] == "M").to_numpy()[:n_lists]
    scores = rng.random((n_lists, length)) + 0.4 * labels * is_man[:, None]
    predictions = pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(n_lists), length),
            "item_id": np.tile(np.arange(length), n_lists),
            "score": scores.ravel(),
            "label": labels.ravel(),
        }
    )
    return {"predictions": predictions, "users": users, "by": BY, "metrics": "auc,ndcg@5,mrr@8"}


def values(seed: int = 3, n_users: int = 800) -> dict[str, Any]:
    """A number without bounds for each user, with a long tail."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "user_id": np.arange(n_users),
            "group": rng.choice(["a", "b", "c"], n_users, p=[0.5, 0.4, 0.1]),
            "old": rng.random(n_users) < 0.3,
            "revenue": rng.exponential(20, n_users),
            "bought": (rng.random(n_users) < 0.4).astype(float),
        }
    )
    return {"values": table, "by": "group,old", "better": "revenue=higher,bought=higher"}


def halves(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The same users in two parts."""
    found = []
    for rest in (0, 1):
        half = dict(given)
        for name in ("predictions", "users", "values"):
            if name in half:
                half[name] = half[name].filter(pl.col("user_id") % 2 == rest)
        found.append(half)
    return found


def counts_of(given: dict[str, Any], **options: Any) -> fairrec.Counts:
    return fairrec.count(**group_options(**given, **options))
