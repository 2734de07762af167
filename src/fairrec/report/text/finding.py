"""One finding: its difference, intervals and users as they are written."""

from __future__ import annotations

from fairrec.core.units import EndWords, Unit
from fairrec.report.words import (
    group_label,
    is_nothing,
    numbers,
    percent,
    signed_interval,
    with_sign,
)
from fairrec.result.metric_schema import Finding, MetricResult


def difference_of(finding: Finding, shrunken: float | None = None) -> str:
    """Its difference, or what is left of it, with the digits of the interval beside it.

    Both may be written alike: then next to nothing was taken off.
    """
    beside = finding.simultaneous or finding.interval
    size = finding.difference if shrunken is None else shrunken
    return with_sign(numbers(size, *beside)[0])


def value_of_others(finding: Finding) -> float:
    """The mean of all other users, whatever their circumstances, as that of the group is."""
    raw = finding.raw_difference
    others = finding.value - (finding.difference if raw is None else raw)
    # what arithmetic leaves of nothing is no value of which anything is so many percent
    return 0.0 if is_nothing(others, finding.value) else others


def simultaneous_interval(finding: Finding) -> str:
    """The interval that holds for all groups and metrics at once; empty where there is none."""
    if finding.simultaneous is None:
        return ""
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
