"""Findings in words: one by itself, and all of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairrec.core.audited_entity import EndWords
from fairrec.core.errors import plain
from fairrec.inputs.users import HAS, LACKS, Value, multivalued_column
from fairrec.report.answer import Served
from fairrec.report.metric_words import is_worse, p_adjusted
from fairrec.report.words import (
    confidence,
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

BESIDE_SHOWN = 3
"""Groups that are named in a sentence beside the findings."""


def format_difference(finding: Finding, shrunken: float | None = None) -> str:
    """Its difference, or what is left of it, with the digits of the interval beside it.

    Both may be written alike: then next to nothing was taken off.
    """
    beside = finding.simultaneous
    size = finding.difference if shrunken is None else shrunken
    return with_sign(numbers(size, *beside)[0])


def mean_outside(finding: Finding) -> float:
    """The mean of all other users, unadjusted, as that of the group is."""
    raw = finding.raw_difference
    others = finding.value - (finding.difference if raw is None else raw)
    # what arithmetic leaves of nothing is no value of which anything is so many percent
    return 0.0 if is_nothing(others, finding.value) else others


def simultaneous_interval(finding: Finding) -> str:
    """The interval that holds for all groups and metrics at once."""
    return signed_interval(*finding.simultaneous, finding.difference)


def one_at_a_time(finding: Finding) -> str:
    """The interval of this group by itself."""
    return signed_interval(*finding.interval, finding.difference)


def users_known(finding: Finding) -> str:
    """How many users the finding rests on."""
    if finding.is_fully_scored:
        return f"{finding.support:,}"
    return f"{finding.support:,} of {finding.n_users:,}"


def because_of(finding: Finding, result: MetricResult, words: EndWords) -> str:
    """The group without which this one would not stand out; nothing for most."""
    if finding.because_of is None:
        return ""
    is_ended = result.higher_is_better is not None
    which = f"{words.better} than they are" if is_ended else "at the other end"
    return f"Not significant without {group_label(finding.because_of)}, {which}."


def describe_undecided(result: MetricResult, summary: AuditSummary) -> str:
    """The groups that differ significantly, although nothing is shown; empty without any."""
    groups = result.undecided
    if not groups:
        return ""
    named = []
    for one in groups[:BESIDE_SHOWN]:
        interval = signed_interval(*one.simultaneous, one.difference)
        size = with_sign(numbers(one.difference, *one.simultaneous)[0])
        p = p_is(p_adjusted(one.p_adjusted, summary))
        named.append(f"{group_label(one.group)} ({size}, {interval}; {p})")
    if len(groups) > BESIDE_SHOWN:
        named.append(f"{len(groups) - BESIDE_SHOWN:,} more")
    interval_of = "its simultaneous" if len(groups) == 1 else "their simultaneous"
    return (
        f"{plural(len(groups), 'group')} {_differ(len(groups))} significantly, but {interval_of} "
        f"{confidence(summary.alpha)} {_includes(len(groups))} 0: {', '.join(named)}."
    )


def undecided_headline(name: str, result: MetricResult, summary: AuditSummary) -> str:
    """The first of them, where nothing else was found."""
    first, n = result.undecided[0], len(result.undecided)
    here, there = numbers(first.value, first.value - first.difference)
    more = f" and {n - 1:,} more" if n > 1 else ""
    p = p_is(p_adjusted(first.p_adjusted, summary))
    whose = "its" if n == 1 else "their"
    return (
        f"Inconclusive: {group_label(first.group)}{more} {_differ(n)} significantly in {name} "
        f"({here} instead of {there}, adjusted {p}), but {whose} simultaneous {_includes(n)} 0"
    )


def _differ(n: int) -> str:
    return "differs" if n == 1 else "differ"


def _includes(n: int) -> str:
    return "interval includes" if n == 1 else "intervals include"


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


def finding_marks(group: FoundGroup, summary: AuditSummary) -> tuple[Mark, ...]:
    """All metrics in which a group differs, the one that says most first."""
    return tuple(
        Mark(plain(name), service_direction(finding, summary.metrics[name]))
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
    return (
        {name: HAS} if is_split and value == LACKS and multivalued_column(name, [value]) else None
    )


def _urgency(
    name: str, finding: Finding, summary: AuditSummary
) -> tuple[int, bool, int, bool, float]:
    """What is told first: worse before better, what is beyond tolerance, then the larger effect.

    Who is worse off only because another group is served better comes after those who are anyway,
    and all who lack one of several values after those who have one.
    """
    result = summary.metrics[name]
    served = SERVED.index(service_direction(finding, result))
    outcome = WORSE if finding.outcome is None else outcome_position(finding.outcome)
    size = -abs(effect_in_sd(finding, result) or 0.0)
    lacks = other_side(finding.group, summary) is not None
    return served, finding.because_of is not None, outcome, lacks, size


def effect_in_sd(finding: Finding, result: MetricResult) -> float | None:
    """The size of a difference, shrunken, in standard deviations among users."""
    return finding.shrunken_difference / result.sd if result.sd else None
