"""What a search leaves to a random sample."""

from __future__ import annotations

from fairrec.report.words import plural
from fairrec.result.schema import AuditSummary, MetricResult


def is_sampled(summary: AuditSummary) -> bool:
    """Whether a search has left users out, so that all others are known by a random sample."""
    return summary.search.users_scored < summary.search.users_total


def scored_user(summary: AuditSummary) -> str:
    """Of whom groups are counted."""
    return "scored user" if is_sampled(summary) else "user"


def mean_over(result: MetricResult, summary: AuditSummary) -> str:
    """Whose mean the mean of a metric is; after a search it is an estimate, and said to be."""
    if is_sampled(summary):
        return f"mean, estimated from {plural(result.n_compared, 'user')} drawn at random"
    return f"mean over {'users with a value' if result.n_undefined else 'all users'}"
