"""The groups that differ, each with all its findings; worst first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fairrec.core.errors import plain
from fairrec.inputs.several import HAS, LACKS
from fairrec.inputs.users import Value, column_of
from fairrec.report.text.ends import is_worse
from fairrec.result.metric_schema import Finding, MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.verdict import WORSE, position_of

Served = Literal["worse", "differs", "better"]
SERVED: tuple[Served, ...] = ("worse", "differs", "better")
"""What is told first."""
SIGNS: dict[Served, str] = {"worse": "▼", "better": "▲", "differs": "◆"}


@dataclass(frozen=True, slots=True)
class Mark:
    """A metric in which a group differs beyond chance."""

    metric: str
    served: Served

    @property
    def sign(self) -> str:
        """Which way, in one character."""
        return SIGNS[self.served]


@dataclass(frozen=True, slots=True)
class FoundGroup:
    """A group with its findings, one a metric; the one that says most first."""

    group: dict[str, Value]
    served: Served
    findings: tuple[tuple[str, Finding], ...]

    @property
    def first(self) -> tuple[str, Finding]:
        """The metric and finding that the group is told by."""
        return self.findings[0]


def served_in(finding: Finding, result: MetricResult) -> Served:
    """How a group is served in one metric."""
    if result.higher_is_better is None:
        return "differs"
    return "worse" if is_worse(finding, result) else "better"


def found_groups(summary: AuditSummary) -> list[FoundGroup]:
    """Every group with a finding in any metric, worst first."""
    together: dict[tuple[tuple[str, Value], ...], list[tuple[str, Finding]]] = {}
    for name, result in summary.metrics.items():
        for finding in result.findings:
            together.setdefault(tuple(finding.group.items()), []).append((name, finding))
    groups = []
    for findings in together.values():
        findings.sort(key=lambda one: _urgency(one[0], one[1], summary))
        name, first = findings[0]
        served = served_in(first, summary.metrics[name])
        groups.append(FoundGroup(first.group, served, tuple(findings)))
    return sorted(groups, key=lambda group: _urgency(group.first[0], group.first[1], summary))


def marks_of(group: FoundGroup, summary: AuditSummary) -> tuple[Mark, ...]:
    """All metrics in which a group differs, the one that says most first."""
    return tuple(
        Mark(plain(name), served_in(finding, summary.metrics[name]))
        for name, finding in group.findings
    )


def other_side(group: Mapping[str, Value], summary: AuditSummary) -> dict[str, Value] | None:
    """Who has the value that a group lacks, where these are all others; None for most groups.

    Of an attribute that was made of one of several values, `genres:each`, everybody has the value
    or has not, and a reader thinks of those who have.
    """
    if len(group) != 1:
        return None
    ((name, value),) = group.items()
    about = summary.attributes.get(name)
    # where somebody's values are not known, those who have it are not all others
    is_split = about is not None and {*about.values} == {HAS, LACKS}
    return {name: HAS} if is_split and value == LACKS and column_of(name, [value]) else None


def _urgency(
    name: str, finding: Finding, summary: AuditSummary
) -> tuple[int, bool, int, bool, float]:
    """What is told first: worse before better, what is sure to matter, then the larger effect.

    Who is worse off only because another group is served better comes after those who are anyway,
    and all who lack one of several values after those who have one.
    """
    result = summary.metrics[name]
    served = SERVED.index(served_in(finding, result))
    outcome = WORSE if finding.outcome is None else position_of(finding.outcome)
    size = -abs(effect_in_sd(finding, result) or 0.0)
    lacks = other_side(finding.group, summary) is not None
    return served, finding.because_of is not None, outcome, lacks, size


def effect_in_sd(finding: Finding, result: MetricResult) -> float | None:
    """The size of a difference, shrunken, in standard deviations among users."""
    if not result.sd:
        return None
    size = finding.shrunken_difference
    return (finding.difference if size is None else size) / result.sd
