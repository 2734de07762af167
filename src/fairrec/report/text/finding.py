"""One finding: its difference, intervals and users as they are written."""

from __future__ import annotations

from fairrec.core.units import EndWords, Unit
from fairrec.report.text.p_values import p_adjusted
from fairrec.report.words import (
    confidence,
    group_label,
    is_nothing,
    numbers,
    p_is,
    percent,
    plural,
    signed_interval,
    with_sign,
)
from fairrec.result.metric_schema import Finding, MetricResult
from fairrec.result.schema import AuditSummary

BESIDE_SHOWN = 3
"""Groups that are named in a sentence beside the findings."""


def difference_of(finding: Finding, shrunken: float | None = None) -> str:
    """Its difference, or what is left of it, with the digits of the interval beside it.

    Both may be written alike: then next to nothing was taken off.
    """
    beside = finding.simultaneous
    size = finding.difference if shrunken is None else shrunken
    return with_sign(numbers(size, *beside)[0])


def value_of_others(finding: Finding) -> float:
    """The mean of all other users, whatever their circumstances, as that of the group is."""
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


def random_sets_of(finding: Finding, unit: Unit) -> str:
    """How special a group of items is; nothing for users."""
    if finding.random_sets is None:
        return ""
    return (
        f"{percent(finding.random_sets)} of random sets of as many {unit.many} would be as far off"
    )


def because_of(finding: Finding, result: MetricResult, words: EndWords) -> str:
    """The group without which this one would not stand out; nothing for most."""
    if finding.because_of is None:
        return ""
    is_ended = result.higher_is_better is not None
    which = f"{words.better} than they are" if is_ended else "at the other end"
    return f"Without {group_label(finding.because_of)}, {which}, they would not stand out."


def undecided_in(result: MetricResult, summary: AuditSummary) -> str:
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
