"""Lists that serve one group of users worse and show one kind of items less."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import fairrec
from fairrec.result.audit_result import AuditResult


def two_sided(n_users: int = 400, seed: int = 0) -> dict[str, pl.DataFrame]:
    """Users of group F get their held-out item last, and items of kind b are shown seldom."""
    rng = np.random.default_rng(seed)
    kind = np.array(["a"] * 30 + ["b"] * 30)
    gender = rng.choice(["F", "M"], n_users)
    liking = rng.gumbel(size=(n_users, 60)) - 2.0 * (kind == "b")
    lists = np.argsort(-liking, axis=1)[:, :5]
    wanted = np.where(gender == "F", lists[:, 4], lists[:, 0])
    return {
        "predictions": pl.DataFrame({"user_id": range(n_users), "item_id": lists.tolist()}),
        "test": pl.DataFrame({"user_id": range(n_users), "item_id": wanted}),
        "users": pl.DataFrame({"user_id": range(n_users), "gender": gender}),
        "items": pl.DataFrame({"item_id": range(60), "kind": kind, "maker": np.arange(60) % 20}),
    }


def audit_users(**options: Any) -> AuditResult:
    given = {"by": "gender", "permutations": 99, **two_sided(), **options}
    del given["items"]
    return fairrec.audit(**given)


def audit_items(**options: Any) -> AuditResult:
    given = {"by": "kind", "permutations": 99, **two_sided(), **options}
    del given["users"]
    return fairrec.audit(**given, side="items")
