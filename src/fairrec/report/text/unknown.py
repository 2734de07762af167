"""What unknown attributes leave open, in sentences."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.metrics.direction import harm
from fairrec.report.words import (
    group_label,
    interval,
    number,
    percent,
    plural,
    signed,
    signed_interval,
)
from fairrec.result.metric_schema import Finding, MetricResult, Unknown
from fairrec.result.schema import AuditSummary
from fairrec.statistics.verdict import RULED_OUT, position_of

METRICS_SHOWN = 3


def unknown_lines(summary: AuditSummary) -> tuple[str, ...]:
    """A sentence for each attribute that is unknown for some users.

    Of each metric it tells the group worst served, where that is a finding or its sign is certain.
    """
    lines = []
    for name in summary.attributes:
        first = {
            metric: one
            for metric, result in summary.metrics.items()
            if not result.is_constant
            for one in reversed(result.unknown)
            if [*one.group] == [name]
        }
        if not first:
            continue
        widest = max(first, key=lambda metric: first[metric].n_unknown)
        told = [metric for metric, one in first.items() if _is_told(one, summary.metrics[metric])]
        is_open = [metric for metric in first if metric not in told]
        said = [
            f"in {plain(metric)}, {group_label(first[metric].group)} "
            f"{_range(first[metric], summary.metrics[metric])}"
            f"{'' if _is_found(first[metric], summary.metrics[metric]) else ' as measured'}"
            for metric in told[:METRICS_SHOWN]
        ]
        if len(told) > METRICS_SHOWN:
            said.append(f"{plural(len(told) - METRICS_SHOWN, 'more metric')} in result.json")
        if is_open:
            said.append(f"in {_listed(is_open)} even the sign of a difference is open")
        lines.append(
            f"{plain(name)} is unknown for "
            f"{_how_many(first[widest].n_unknown, summary.metrics[widest].n_defined, summary)}. "
            f"Whatever it is{_as_it_is(summary)}: {'; '.join(said)}."
        )
    return tuple(lines)


def _how_many(n_unknown: int, n_defined: int, summary: AuditSummary) -> str:
    """Users with a value, of all that have one."""
    share = percent(n_unknown / max(1, n_defined))
    if n_defined == summary.n_users:
        return f"{summary.unit.count(n_unknown)} ({share})"
    return f"{n_unknown:,} of {summary.unit.count(n_defined)} with a value ({share})"


def _as_it_is(summary: AuditSummary) -> str:
    return "" if summary.given is None else " (whatever the circumstances)"


def _is_told(one: Unknown, result: MetricResult) -> bool:
    low, high = one.bounds
    return _is_found(one, result) or not low < 0 < high


def _is_found(one: Unknown, result: MetricResult) -> bool:
    return any(finding.group == one.group for finding in result.findings)


def _listed(metrics: list[str]) -> str:
    shown = ", ".join(plain(metric) for metric in metrics[:METRICS_SHOWN])
    n_more = len(metrics) - METRICS_SHOWN
    return f"{shown} and {plural(n_more, 'more metric')}" if n_more > 0 else shown


def unknown_of(finding: Finding, result: MetricResult, summary: AuditSummary) -> str:
    """What they leave open of one finding; nothing where nobody else may belong to it."""
    for one in result.unknown:
        if one.group == finding.group:
            more = f"{one.n_unknown:,} more {summary.unit.noun(one.n_unknown)}"
            whoever = "Whoever" if summary.unit.is_users else "Whichever"
            does = f"{whoever} does{_as_it_is(summary)}, it {_range(one, result)}"
            return f"Unknown attributes: {more} may belong to it. {does}."
    return ""


def if_like_others(result: MetricResult, summary: AuditSummary) -> str:
    """What "not worse by more than matters" rests on; empty where no unknown value can undo it."""
    verdict = result.verdict
    if verdict is None or not verdict.n_exceeding_at_worst:
        return ""
    if verdict.at_worst is None:
        return f"if {summary.unit.many} of unknown attributes are like the others"
    return (
        f"{_if_like(verdict.at_worst, result, summary)} for {group_label(verdict.at_worst.group)}"
    )


def if_like_others_of(finding: Finding, result: MetricResult, summary: AuditSummary) -> str:
    """The same of one finding."""
    matters = None if result.verdict is None else result.verdict.matters
    if matters is None or finding.outcome is None or position_of(finding.outcome) != RULED_OUT:
        return ""
    for one in result.unknown:
        is_it = one.group == finding.group and one.at_worst is not None
        if is_it and harm(one.at_worst or 0.0, result.higher_is_better) > matters:
            return _if_like(one, result, summary)
    return ""


def _if_like(one: Unknown, result: MetricResult, summary: AuditSummary) -> str:
    unknown = [plain(name) for name in one.group if summary.attributes[name].n_missing != 0]
    share = percent(one.n_unknown / max(1, result.n_defined))
    at_worst = "" if one.at_worst is None else f"; at worst {signed(one.at_worst)}"
    return f"if the {share} of unknown {' or '.join(unknown)} are like the others{at_worst}"


def _range(one: Unknown, result: MetricResult) -> str:
    low, high = one.bounds
    if result.higher_is_better is None:
        return f"differs from all others by {signed_interval(low, high)}"
    low, high = sorted(harm(end, result.higher_is_better) for end in one.bounds)
    if low >= 0:
        return f"is worse than all others by {interval(low, high)}"
    if high <= 0:
        return f"is better than all others by {interval(-high, -low)}"
    return (
        f"may be worse than all others by up to {number(high)} or better by up to {number(-low)}, "
        "so which end is worse is not known"
    )
