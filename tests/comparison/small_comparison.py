"""Comparisons to lay out: one group worse by more than matters, and what else is asked for."""

from __future__ import annotations

from functools import cache
from typing import Any

import fairrec
from fairrec.comparison.result import Comparison, ComparisonSummary
from tests.compared_audits import audited, users_table


@cache
def compared(
    fall: float = 1.0, better: str = "higher", tolerance: float | None = 0.3
) -> Comparison:
    """Free users by so much worse off in the candidate."""
    users, ends = users_table(), {"clicks": better} if better else {}
    base = audited(users, 1, better=ends, model_name="als", model_version="1")
    return fairrec.compare(
        base, audited(users, 2, {"plan=free": fall}, better=ends), tolerance=tolerance
    )


def with_metric(summary: ComparisonSummary, **changes: Any) -> ComparisonSummary:
    """The same with some of its metric changed."""
    metric = summary.metrics["clicks"].model_copy(update=changes)
    return summary.model_copy(update={"metrics": {"clicks": metric}})
