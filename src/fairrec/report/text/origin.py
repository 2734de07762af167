"""Where the options of an audit came from, and whether it was done as planned."""

from __future__ import annotations

from fairrec.core.errors import listed, plain
from fairrec.report.words import plural
from fairrec.result.schema import AuditSummary

LONGEST_PATH, LONGEST = 300, 2000


def plan_lines(summary: AuditSummary) -> tuple[str, ...]:
    """Whether an audit was done as planned; nothing where there was no plan."""
    plan = summary.plan
    if plan is None:
        return ()
    which = f"{plain(plan.file, LONGEST_PATH)}, checksum {plan.checksum[:12]}"
    if not plan.deviations:
        return (f"As planned ({which}).",)
    n_deviations = plural(len(plan.deviations), "deviation")
    lines = (f"Deviates from the plan: {plain(each, LONGEST)}." for each in plan.deviations)
    return (f"Planned ({which}), with {n_deviations}.", *lines)


def settings_line(summary: AuditSummary) -> str:
    """Which options came from a settings file; nothing where there was none."""
    settings = summary.settings
    if settings is None:
        return ""
    names = listed(settings.options) or "none"
    return f"{plain(settings.file, LONGEST_PATH)}, checksum {settings.sha256[:12]}: {names}"
