"""Lists that serve one group of users worse and show one kind of items less."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import fairrec
from fairrec.result.audit_result import AuditResult
from fairrec.result.both_sides import BothSides


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


def is_same(one: AuditResult, other: AuditResult) -> bool:
    """Whether two results say the same, saved or not."""
    kept = other.summary.model_copy(update={"is_aggregates_only": one.summary.is_aggregates_only})
    return one.summary == kept and one.group_table.equals(other.group_table)


def audit_two_sides(**options: Any) -> BothSides:
    given = {"by_users": "gender", "by_items": "kind", "permutations": 99, **two_sided(), **options}
    return fairrec.audit(**given, side="both")
