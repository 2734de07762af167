"""Findings in words: one by itself, and all of a group."""

from __future__ import annotations

from dataclasses import dataclass

from fairrec.core.audited_entity import EndWords
from fairrec.inputs.users import Value
from fairrec.report.answer import Served
from fairrec.report.metric_words import is_worse, p_adjusted
from fairrec.report.words import (
    group_label,
    is_nothing,
    numbers,
    p_is,
    plural,
    signed_interval,
    with_sign,
)
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.findings import Finding
from fairrec.statistics.verdict import WORSE, outcome_position

MOST_NAMED = 3
"""Groups that a sentence names."""


def format_difference(finding: Finding, shrunken: float | None = None) -> str:
    """Its difference, or what is left of it, with the digits of the interval beside it."""
    size = finding.difference if shrunken is None else shrunken
    return with_sign(numbers(size, *finding.simultaneous)[0])


def mean_outside(finding: Finding) -> float:
    """The mean of all other users, unadjusted, as that of the group is."""
    raw = finding.raw_difference
    others = finding.value - (finding.difference if raw is None else raw)
    # a rounding error is no value of which another is a percentage
    return 0.0 if is_nothing(others, finding.value) else others


def simultaneous_interval(finding: Finding) -> str:
    """The interval that holds for all groups and metrics at once."""
    return signed_interval(*finding.simultaneous, finding.difference)


def users_known(finding: Finding) -> str:
    """How many users the finding rests on."""
    if finding.is_fully_scored:
        return f"{finding.support:,}"
    return f"{finding.support:,} of {finding.n_users:,}"


def because_of(finding: Finding, words: EndWords) -> str:
    """The better served group without which this one would not be significant; empty for most."""
    if finding.because_of is None:
        return ""
    return f"Significant only beside {group_label(finding.because_of)}, which is {words.better}."


def describe_undecided(result: MetricResult, summary: AuditSummary) -> str:
    """The groups whose test is significant and whose simultaneous interval includes 0."""
    groups = result.undecided
    named = [
        f"{group_label(one.group)} ({p_is(p_adjusted(one.p_adjusted, summary))})"
        for one in groups[:MOST_NAMED]
    ]
    if len(groups) > MOST_NAMED:
        named.append(f"{len(groups) - MOST_NAMED:,} more")
    if not named:
        return ""
    return (
        f"p <= {summary.alpha:g}, but the simultaneous interval includes 0: "
        f"{plural(len(groups), 'group')}, {', '.join(named)}"
    )


SERVED: tuple[Served, ...] = ("worse", "differs", "better")
"""In the order in which they are reported."""


@dataclass(frozen=True, slots=True)
class FoundGroup:
    """A group with its findings, one a metric, the most important first."""

    group: dict[str, Value]
    served: Served
    findings: tuple[tuple[str, Finding], ...]

    @property
    def first(self) -> tuple[str, Finding]:
        """The metric and finding that come first."""
        return self.findings[0]


def service_direction(finding: Finding, result: MetricResult) -> Served:
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
        served = service_direction(first, summary.metrics[name])
        groups.append(FoundGroup(first.group, served, tuple(findings)))
    return sorted(groups, key=lambda group: _urgency(group.first[0], group.first[1], summary))


def _urgency(name: str, finding: Finding, summary: AuditSummary) -> tuple[int, bool, int, float]:
    """Worse before better, beyond tolerance before within it, then the larger effect.

    A group that is worse only because another is served better comes after those that are anyway.
    """
    result = summary.metrics[name]
    served = SERVED.index(service_direction(finding, result))
    outcome = WORSE if finding.outcome is None else outcome_position(finding.outcome)
    size = -abs(effect_in_sd(finding, result) or 0.0)
    return served, finding.because_of is not None, outcome, size


def effect_in_sd(finding: Finding, result: MetricResult) -> float | None:
    """The size of a difference, shrunken, in standard deviations among users."""
    return finding.shrunken_difference / result.sd if result.sd else None
