"""Audits of small worlds to compare: a model, and another one that serves some users worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

import fairrec
from fairrec.report.audit_result import AuditResult

HIGHER = {"clicks": "higher"}


def users_table(n_users: int = 600, **columns: Sequence[Any]) -> pl.DataFrame:
    """Users by `plan` (two thirds free) and `city` (ten of them)."""
    rng = np.random.default_rng(0)
    usual = {
        "plan": rng.choice(["free", "free", "paid"], n_users),
        "city": [f"c{at % 10}" for at in range(n_users)],
    }
    return pl.DataFrame({"user_id": [f"u{at}" for at in range(n_users)], **(columns or usual)})


def audited(
    users: pl.DataFrame,
    seed: int = 0,
    worse: Mapping[str, float] | None = None,
    by: Sequence[str] | None = None,
    values: Mapping[str, Any] | None = None,
    **options: Any,
) -> AuditResult:
    """An audit of clicks around 5; fewer by so many for users with a value of an attribute."""
    rng = np.random.default_rng(seed)
    clicks = 5 + rng.normal(size=users.height)
    for where, fall in (worse or {}).items():
        name, value = where.split("=")
        clicks -= fall * (users[name] == value).to_numpy()
    table = users.select("user_id").with_columns(pl.Series("clicks", clicks))
    table = table.with_columns(**(values or {}))
    usual = {"permutations": 99, "better": HIGHER}
    by = by or [name for name in users.columns if name != "user_id"]
    return fairrec.audit(values=table, users=users, by=by, **{**usual, **options})
