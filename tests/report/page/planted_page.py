"""A page with a planted gap, made once."""

from __future__ import annotations

from functools import cache
from typing import Any

import fairrec
from fairrec.report.page.build import build_page_view
from fairrec.report.page.view import PageView
from fairrec.result.audit_result import AuditResult
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


def view_of(result: AuditResult, **options: Any) -> PageView:
    """The view of a page."""
    return build_page_view(result.summary, result.group_table, **options)
