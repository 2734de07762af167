"""Which metrics have charts, where there are too many for all of them."""

from __future__ import annotations

from fairrec.report.page.view import PageLimits
from fairrec.report.text.findings import found_groups
from fairrec.result.schema import AuditSummary


def drawn_metrics(summary: AuditSummary, limits: PageLimits) -> tuple[str, ...]:
    """The metrics that are drawn, in their order; those of the worst findings go first."""
    if len(summary.metrics) <= limits.metrics:
        return tuple(summary.metrics)
    told = (name for found in found_groups(summary) for name, _ in found.findings)
    chosen = {*[*dict.fromkeys((*told, *summary.metrics))][: limits.metrics]}
    return tuple(name for name in summary.metrics if name in chosen)


def about_drawn(summary: AuditSummary, limits: PageLimits) -> str:
    """How many metrics have charts, where not all have."""
    n_drawn, n_all = limits.metrics, len(summary.metrics)
    if n_all <= n_drawn:
        return ""
    return f"Charts are drawn for {n_drawn:,} of {n_all:,} metrics, those with findings first."
