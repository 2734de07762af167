"""Results of each kind, of which several tests open the page."""

from __future__ import annotations

import polars as pl

import fairrec
from fairrec.mitigation.result import MitigationResult
from fairrec.report.audit_result import AuditResult
from tests.builders import make_tables
from tests.worlds import random_world


def searched() -> AuditResult:
    """A fifth of the users is scored; women are served worse."""
    users, predictions = random_world(1000, {"gender": "F"}, effect=1.0, seed=2)
    return fairrec.audit(
        predictions,
        users=users,
        by=["gender", "age"],
        metrics="mrr@5",
        statistics=fairrec.Statistics(permutations=49),
        search=fairrec.Search("adaptive", budget_users="20%"),
    )


def mitigated(woman: str = "F") -> MitigationResult:
    """The diversity of three groups is raised; `woman` is what that gender is called."""
    tables = make_tables(n_users=120)
    return fairrec.mitigate(
        tables.predictions,
        users=tables.users.with_columns(gender=pl.col("gender").replace("F", woman)),
        items=tables.items,
        history=tables.history,
        by=["gender", "member"],
        metric="urd@3",
        groups="worst:3",
        strength=0.5,
        min_support=5,
        statistics=fairrec.Statistics(permutations=19),
    )
