"""The groups of a result as the page speaks of them: number, name and role."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairrec.report.page.chart_view import Role
from fairrec.report.page.shown_groups import GroupFrame, Key
from fairrec.report.text.metric_words import end_names
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary

ROUNDED = 6


@dataclass(slots=True)
class PageGroups:
    """The groups of a result: their rows, what they are called, and a number for each on the page.

    A group has the same number in every metric, so that choosing it in one chart marks it in all.
    """

    frame: GroupFrame
    summary: AuditSummary
    _numbers: dict[Key, int] = field(default_factory=dict)
    _labels: dict[Key, str] = field(default_factory=dict)

    def number(self, key: Key) -> int:
        """The number of a group on the page."""
        return self._numbers.setdefault(key, len(self._numbers))

    def label(self, key: Key) -> str:
        """What a group is called."""
        if key not in self._labels:
            self._labels[key] = self.frame.label(key)
        return self._labels[key]

    def roles(self, metric: str) -> dict[Key, Role]:
        """The groups of a metric that are more than one among many."""
        result = self.summary.metrics[metric]
        roles: dict[Key, Role] = {}
        for end in result.most_advantaged:
            roles[self.frame.key(end.group)] = "best end"
        for end in result.most_disadvantaged:
            roles[self.frame.key(end.group)] = "worst end"
        for finding in result.findings:
            roles[self.frame.key(finding.group)] = "finding"
        return roles


def mark(role: Role, result: MetricResult) -> str:
    """A role in words; nothing for most groups."""
    low, high = end_names(result)
    words = {"group": "", "finding": "finding", "best end": high, "worst end": low}
    return words[role]


def short(value: float) -> float:
    """Digits enough for a drawing."""
    return float(f"{value:.{ROUNDED}g}")
