"""What a search leaves to a random sample."""

from __future__ import annotations

from fairrec.core.options import spelled
from fairrec.core.units import Unit
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary


def is_sampled(summary: AuditSummary) -> bool:
    """Whether a search has left users out, so that all others are known by a random sample."""
    return summary.search.users_scored < summary.search.users_total


def scored(summary: AuditSummary) -> Unit:
    """What the sizes of groups count."""
    unit = summary.unit
    return Unit(f"scored {unit.one}", f"scored {unit.many}") if is_sampled(summary) else unit


def exact_instead(summary: AuditSummary) -> str:
    """How to get the exact answer, where a search was made of scores that are all at hand."""
    if not (is_sampled(summary) and summary.search.has_table):
        return ""
    search = spelled("search")
    return f"the table has every score: leave out {search} and its budget for the exact answer"


def mean_over(result: MetricResult, summary: AuditSummary) -> str:
    """Whose mean the mean of a metric is; after a search it is an estimate, and said to be."""
    if is_sampled(summary):
        return f"mean, estimated from {summary.unit.count(result.n_compared)} drawn at random"
    many = summary.unit.many
    return f"mean over {f'{many} with a value' if result.n_undefined else f'all {many}'}"
