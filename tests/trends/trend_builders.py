"""Audits of several releases, of users one group of whom is served worse from one release on."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl

import fairrec
from fairrec.result.audit_result import AuditResult

N_USERS = 800


def users_of(n_users: int = N_USERS, first: int = 0) -> pl.DataFrame:
    """Every second is F, every fourth old."""
    numbers = range(n_users)
    return pl.DataFrame(
        {
            "user_id": [f"u{first + i}" for i in numbers],
            "gender": ["FM"[i % 2] for i in numbers],
            "age": ["old" if i % 4 < 1 or i % 8 == 1 else "young" for i in numbers],
        }
    )


def release(
    seed: int, loss: float = 0.0, users: pl.DataFrame | None = None, **options: Any
) -> AuditResult:
    """An audit of a release in which old F lose so many standard deviations."""
    users = users_of() if users is None else users
    rng = np.random.default_rng(seed)
    is_worse = ((users["gender"] == "F") & (users["age"] == "old")).to_numpy()
    value = rng.normal(size=len(users)) - loss * is_worse
    usual: dict[str, Any] = {"by": "gender,age", "permutations": 99, "better": {"score": "higher"}}
    values = pl.DataFrame({"user_id": users["user_id"], "score": value})
    return fairrec.audit(values=values, users=users, **{**usual, **options})


@cache
def six_releases() -> tuple[AuditResult, ...]:
    """Old F are worse from the fourth on."""
    return tuple(release(seed, 1.0 * (seed > 3), model_version=f"1.{seed}") for seed in range(1, 7))
