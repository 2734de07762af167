"""Results with a planted gap, and their pages."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl

import fairrec
from fairrec.report.audit_result import AuditResult
from fairrec.report.page.audit import page_html
from fairrec.report.page.groups import PageGroups
from fairrec.result.metric_schema import MetricResult
from tests.grouped_options import group_options
from tests.worlds import ATTRIBUTES, random_world


def planted_result(**options: Any) -> AuditResult:
    """Old women are served worse."""
    users, predictions = random_world(2000, {"gender": "F", "age": "65+"}, effect=2.5, seed=1)
    settings = {"metrics": ["auc", "mrr@5"], "permutations": 199, "min_support": 10, **options}
    return fairrec.audit(
        predictions,
        **group_options(
            users=users,
            by=list(ATTRIBUTES),
            command="fairrec audit predictions.parquet",
            **settings,
        ),
    )


@cache
def planted() -> AuditResult:
    """The same, made once."""
    return planted_result()


@cache
def given_result() -> AuditResult:
    """Men are served better as they are, for they stay longer; those of the north are worse."""
    rng = np.random.default_rng(0)
    gender, place = rng.choice(["F", "M"], 3000), rng.choice(["north", "south", "west"], 3000)
    tenure = rng.poisson(np.where(gender == "F", 6, 12))
    is_hit = (gender == "M") & (place == "north")
    q = 0.3 + 0.02 * np.minimum(tenure, 15) + rng.normal(0, 0.1, 3000) - 0.05 * is_hit
    table = pl.DataFrame({"user_id": range(3000), "gender": gender, "place": place, "q": q})
    return fairrec.audit(
        values=table.with_columns(tenure=pl.Series(tenure)),
        by="gender,place",
        metrics="q",
        tables=fairrec.Tables(better="q=higher"),
        adjust_for="tenure:q5",
        statistics=fairrec.Statistics(permutations=199),
    )


def resolve_audit(harms: dict[str, float], n_users: int = 2000, **options) -> AuditResult:
    """Values around 0.5 with a spread of 0.1; each metric is lower by so much for women over 60."""
    rng = np.random.default_rng(0)
    gender, age = rng.choice(["F", "M"], n_users), rng.choice(["young", "old"], n_users)
    is_hit = (gender == "F") & (age == "old")
    values = {
        name: 0.5 - harm * is_hit + 0.1 * rng.normal(size=n_users) for name, harm in harms.items()
    }
    table = pl.DataFrame({"user_id": range(n_users), "gender": gender, "age": age, **values})
    better = {name: "higher" for name in harms if name != "c"}
    given = {"permutations": 199, "min_support": 10, **options}
    return fairrec.audit(**group_options(values=table, by="gender,age", better=better, **given))


def standing(**changes: Any) -> MetricResult:
    """A metric with two groups and nothing found, changed."""
    users, predictions = random_world(200, seed=1)
    result = fairrec.audit(
        predictions,
        users=users,
        by="gender",
        metrics="auc",
        statistics=fairrec.Statistics(permutations=39),
    )
    return result.metrics["auc"].model_copy(update={"findings": (), **changes})


def groups_of(result: AuditResult) -> PageGroups:
    """The groups of a page."""
    return PageGroups(result.group_table, result.summary)


def page_of(result: AuditResult, **options: Any) -> str:
    """A page as HTML."""
    return page_html(result.summary, result.group_table, **options)
