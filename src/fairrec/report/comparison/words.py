"""A comparison in sentences: the answer first, then how it was come to."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.core.options import Blank, spelled
from fairrec.core.units import Unit
from fairrec.report.text.certificate import USUAL_SIZE
from fairrec.report.text.status import Status, status_words
from fairrec.report.text.verdict import Tone
from fairrec.report.words import (
    confidence,
    group_label,
    number,
    numbers,
    plural,
    signed_interval,
    with_sign,
)
from fairrec.result.comparison_schema import (
    ComparedAudit,
    ComparisonSummary,
    GroupComparison,
    MetricComparison,
)
from fairrec.statistics.outcome import BY_MORE, RULED_OUT, position_of

LONGEST_NAME = 120
_SIZES = (USUAL_SIZE, 1000)
"""Of groups of which it is said what is ruled out."""


def status_of(metric: MetricComparison) -> Status:
    """What is known about the harm of the candidate in one metric, in a few words."""
    return status_words(metric.outcome, metric.matters is not None)


def tone_of(summary: ComparisonSummary) -> Tone:
    """How to show the answer: a change where no end is better is no alarm."""
    if summary.outcome in ("worse by more", "worse"):
        return "found"
    return "clear" if position_of(summary.outcome) == RULED_OUT else "open"


def headline(summary: ComparisonSummary) -> str:
    """The answer in one sentence."""
    first = _first(summary)
    # a group may improve in several metrics, and is one group
    n_improved = max((metric.n_improved for metric in summary.metrics.values()), default=0)
    which = " in a metric" if len(summary.metrics) > 1 else ""
    up_to = "up to " if which else ""
    better = f"; {up_to}{plural(n_improved, 'group')} improved{which}" if n_improved else ""
    if first is not None:
        return _of_worse(*first, summary) + better
    if position_of(summary.outcome) == RULED_OUT:
        verb = "changed" if summary.outcome == "differs by no more" else "became worse"
        return f"No group of a single attribute {verb} by more than matters{better}"
    if n_improved:
        return f"No group is shown to be worse{better}"
    return "No group is shown to be worse or better"


def _first(summary: ComparisonSummary) -> tuple[str, GroupComparison] | None:
    """The group to be named: of what matters most, where an end is worse before where none is."""
    found = [
        (position_of(group.outcome), metric.higher_is_better is None, name, group)
        for name, metric in summary.metrics.items()
        for group in metric.worse[:1]
    ]
    if not found:
        return None
    *_, name, group = min(found, key=lambda one: (one[1], one[0]))
    return name, group


def _of_worse(name: str, group: GroupComparison, summary: ComparisonSummary) -> str:
    metric = summary.metrics[name]
    verb = "changed" if metric.higher_is_better is None else "became worse"
    verb += " by more than matters" if position_of(group.outcome) == BY_MORE else ""
    before, after = numbers(group.before, group.after)
    n_more = metric.n_worse_by_more + metric.n_worse - 1
    which = " in this metric" if len(summary.metrics) > 1 else ""
    more = f"; {n_more:,} more{which}" if n_more else ""
    who, what = group_label(group.group), plain(metric.called or name)
    return f"{who} {verb}: {what} {before} → {after}{more}"


def about(summary: ComparisonSummary) -> str:
    """What was compared with what."""
    unit = summary.unit
    return f"{_named(summary.base, 'base', unit)} → {_named(summary.candidate, 'candidate', unit)}"


def _named(audit: ComparedAudit, which: str, unit: Unit) -> str:
    model = audit.model and f"{audit.model.name} {audit.model.version}".strip()
    named = [part for part in (audit.name, audit.title, model) if part]
    said = plain(" · ".join(named), LONGEST_NAME) if named else which
    return f"{said} ({unit.count(audit.n_users)})"


def how(summary: ComparisonSummary) -> str:
    """Whose values were compared, and what the intervals hold for."""
    pairing = summary.pairing
    n_groups = sum(metric.n_groups for metric in summary.metrics.values())
    at_once = (
        f"Intervals hold at {confidence(summary.alpha)} for all {n_groups:,} changes of "
        f"{plural(len(summary.metrics), 'metric')} at once."
    )
    if pairing.is_paired:
        return f"The same {summary.unit.count(pairing.n_shared or 0)} in both audits. {at_once}"
    why = plain(pairing.why, 300)
    who = f"Two sets of {summary.unit.many}, n" if summary.unit.is_users else "N"
    return f"{who}ot paired: {why}. {at_once}"


def said_of(name: str, summary: ComparisonSummary) -> tuple[str, ...]:
    """One metric in sentences: everyone, groups, what is ruled out."""
    metric, many = summary.metrics[name], summary.unit.many
    found = _everyone(metric, many), _counts(metric)
    said = (*found, _ruled_out(metric, many), _nothing_matters(metric))
    return tuple(filter(None, said))


def _everyone(metric: MetricComparison, many: str) -> str:
    change = metric.everyone
    if change is None or change.before is None or change.after is None or change.change is None:
        return ""
    before, after = numbers(change.before, change.after)
    said = f"All {many}: {before} → {after}"
    if change.interval is not None and change.verdict != "unchanged":
        by = with_sign(numbers(change.change, *change.interval)[0])
        said += f" ({by}, interval {signed_interval(*change.interval, change.change)})"
    gaps = metric.gap
    if gaps.before is not None and gaps.after is not None:
        said += f". Gap between intersections: {' → '.join(numbers(gaps.before, gaps.after))}"
    return f"{said}."


def _counts(metric: MetricComparison) -> str:
    n_shown = metric.n_worse_by_more + metric.n_worse
    more = f" ({metric.n_worse_by_more:,} by more than matters)" if metric.n_worse_by_more else ""
    if metric.higher_is_better is None:
        said = f"{n_shown:,} of {plural(metric.n_groups, 'group')} changed{more}"
        if metric.matters is None:
            return f"{said}."
        return (
            f"{said}; {metric.n_open:,} may have changed by more than matters or not; "
            f"{metric.n_ruled_out:,} changed by no more than matters, if at all."
        )
    is_open = metric.matters is not None and metric.n_open
    left = f"; {metric.n_open:,} may be worse by more than matters or not" if is_open else ""
    return (
        f"Of {plural(metric.n_groups, 'group')} {n_shown:,} became worse{more} and "
        f"{metric.n_improved:,} improved{left}."
    )


def _nothing_matters(metric: MetricComparison) -> str:
    if metric.matters is not None or metric.outcome != "inconclusive":
        return ""
    matters = spelled("matters", Blank("AMOUNT"))
    return f"Inconclusive, as nothing was said to matter; with {matters} harms can be ruled out."


def _ruled_out(metric: MetricComparison, many: str) -> str:
    if not metric.is_conclusive:
        return f"Too many {many} have no value for anything to be ruled out."
    steps = [point for point in metric.certificate if point.harm > 0]
    verb = "changed" if metric.higher_is_better is None else "became worse"
    if not steps:
        return ""
    later = [next((point for point in steps if point.support >= size), None) for size in _SIZES]
    first, *others = [*dict.fromkeys(point for point in later if point)] or steps[:1]
    said = (
        f"Ruled out: that a group of {first.support:,} {many} or more, other than those shown, "
        f"{verb} by more than {number(first.harm)}"
    )
    parts = [f"of {point.support:,} or more by {number(point.harm)}" for point in others]
    return f"{'; '.join([said, *parts])}."
