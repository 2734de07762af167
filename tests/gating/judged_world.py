"""A small audit whose table of groups tests may write themselves."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

import fairrec
from fairrec.gating.judging import Measurements
from fairrec.gating.policy import Policy, policy_in
from fairrec.result.audit_result import AuditResult


@cache
def planted() -> AuditResult:
    """4,000 users; women of 56 and more have 0.25 less in `hits`, nobody differs in the others."""
    rng = np.random.default_rng(0)
    n = 4000
    users = pl.DataFrame(
        {
            "user_id": range(n),
            "gender": rng.choice(["F", "M"], n),
            "age": rng.choice(["18", "36", "56+"], n, p=[0.5, 0.4, 0.1]),
        }
    )
    is_hard = ((users["gender"] == "F") & (users["age"] == "56+")).to_numpy()
    values = pl.DataFrame(
        {
            "user_id": range(n),
            "hits": np.clip(rng.beta(4, 4, n) - 0.25 * is_hard, 0, 1),
            "clicks": rng.poisson(3, n),
            "wait": rng.gamma(4, 1, n) + 2.0 * is_hard,
            "lean": rng.normal(0, 1, n),
        }
    )
    return fairrec.audit(
        values=values,
        users=users,
        by="gender,age",
        better="hits=higher,clicks=higher,wait=lower",
        permutations=999,
        tolerance="hits=0.03",
        title="spring",
        model_name="ease",
    )


def policy_of(*rules: dict, **require) -> Policy:
    """A policy as a file would state it."""
    return policy_in({"rule": [*rules], "require": require}, "fairrec.toml")


def measured(result: AuditResult | None = None, **columns) -> Measurements:
    """What rules are judged by, with columns of the table of groups replaced."""
    result = result or planted()
    table = result.group_table.with_columns(
        pl.lit(value).cast(result.group_table.schema[name]).alias(name)
        for name, value in columns.items()
    )
    return Measurements(result.summary, table)
