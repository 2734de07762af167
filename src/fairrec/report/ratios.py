"""Ratios between groups and inequality among users: a table and sentences."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairrec.core.audited_entity import Unit
from fairrec.core.errors import plain
from fairrec.report.words import TableView, confidence, group_label, number, percent, plural
from fairrec.result.schema import AuditSummary
from fairrec.statistics.ratios import (
    FOUR_FIFTHS,
    SMALL_CATEGORY,
    CategoryRatios,
    GroupRatios,
    MetricRatios,
    Ratios,
)

ROWS_SHOWN, LEAST_ROWS = 30, 5
BELOW_SHOWN = NAMES_SHOWN = 3
_NO_RULE = {"small": "under 2%", "unknown": "unknown", None: "-"}
_THE_RULE = "the four-fifths rule is a rule of thumb of employment law, not a verdict"


@dataclass(frozen=True, slots=True)
class RatiosView:
    """Ratios and inequality, ready to lay out.

    Parameters
    ----------
    below : a sentence on groups that are below four fifths beyond chance; empty without any
    about : what the columns mean
    """

    below: str
    about: tuple[str, ...]
    table: TableView
    gini: str
    notes: tuple[str, ...]


def ratios_view(summary: AuditSummary, most_rows: int = ROWS_SHOWN) -> RatiosView:
    """The view of a result.

    Parameters
    ----------
    most_rows : of the table of ratios, all metrics together
    """
    metrics = summary.ratios.metrics
    table = _table(metrics, summary, most_rows)
    return RatiosView(
        below=_below(metrics, summary),
        about=_about(summary) if table.rows else (),
        table=table,
        gini=_gini(metrics, summary.unit),
        notes=_notes(summary.ratios, summary.unit),
    )


def _about(summary: AuditSummary) -> tuple[str, ...]:
    level, many = confidence(summary.alpha), summary.unit.many
    return (
        "To the best: the value of a group over that of the best group of the same attributes "
        f"with at least {percent(SMALL_CATEGORY)} of {many}. To the rest: over the mean of "
        f"all other {many}. Intervals are {level} for one group at a time; the one to the best "
        "allows for not knowing which group is best.",
        f"Four fifths: below {FOUR_FIFTHS:g} of the best, or uncertain where the interval "
        f"holds {FOUR_FIFTHS:g}; {_THE_RULE}.",
        "Impact ratio, as New York's local law 144 defines it: the rate over the highest rate of "
        f"the same attributes. The rate is the share of {many} with 1 where all values are 0 or 1 "
        f"(selection rate), else the share above the median of all {many} (scoring rate).",
    )


def _table(metrics: Mapping[str, MetricRatios], summary: AuditSummary, most_rows: int) -> TableView:
    level = confidence(summary.alpha)
    compared = {name: result for name, result in metrics.items() if result.by}
    most_each = max(LEAST_ROWS, most_rows // max(1, len(compared)))
    rows, n_all = [], 0
    for name, result in compared.items():
        groups = [group for one in result.by for group in one.groups]
        rows += [(plain(name), *_row(group)) for group in _lowest(groups, most_each)]
        n_all += len(groups)
    note = (
        f"{len(rows):,} of {n_all:,} rows are shown, those with the lowest ratio to the best; all "
        "are in result.json."
    )
    return TableView(
        title=f"Each group beside the best group and beside all other {summary.unit.many}",
        columns=(
            *("metric", "group", summary.unit.many, "value", "to the best", f"{level} interval"),
            *("to the rest", f"{level} interval", "four fifths", "rate", "impact ratio"),
        ),
        numeric=(False, False, *(True,) * 6, False, True, True),
        rows=tuple(rows),
        note=note if len(rows) < n_all else "",
    )


def _lowest(groups: Sequence[GroupRatios], most: int) -> list[GroupRatios]:
    """The groups with the lowest ratio to the best, then the largest others, in their order."""

    def place(at: int) -> tuple[bool, float]:
        ratio = groups[at].to_best
        return ratio is None, -groups[at].support if ratio is None else ratio

    return [groups[at] for at in sorted(heapq.nsmallest(most, range(len(groups)), place))]


def _row(group: GroupRatios) -> tuple[str, ...]:
    return (
        group_label(group.group),
        f"{group.support:,}",
        number(group.value),
        _ratio(group.to_best),
        _interval(group.to_best_interval),
        _ratio(group.to_rest),
        _interval(group.to_rest_interval),
        group.four_fifths or _NO_RULE[group.left_out],
        percent(group.rate),
        _ratio(group.impact_ratio),
    )


def _interval(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else " to ".join(map(_ratio, interval))


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:,.3f}"


def _names(part: CategoryRatios) -> str:
    if len(part.attributes) > NAMES_SHOWN:
        return "all attributes"
    return " x ".join(plain(name) for name in part.attributes)


def _below(metrics: Mapping[str, MetricRatios], summary: AuditSummary) -> str:
    """The groups that are below four fifths, whichever group is the best."""
    found = [
        (group, name, one)
        for name, result in metrics.items()
        for one in result.by
        for group in one.groups
        if group.four_fifths == "below"
    ]
    if not found:
        return ""
    lowest = sorted(found, key=lambda part: part[0].to_best or 0.0)[:BELOW_SHOWN]
    said = "; ".join(
        f"{plain(name)} of {group_label(group.group)} is {_ratio(group.to_best)} of that of "
        f"{group_label(_best(one.groups).group)} ({_interval(group.to_best_interval)})"
        for group, name, one in lowest
    )
    n_more = len(found) - len(lowest)
    more = f"; {n_more:,} more in result.json" if n_more else ""
    return (
        f"Below four fifths of the best group, with a {confidence(summary.alpha)} interval that "
        f"excludes it: {said}{more} ({_THE_RULE})."
    )


def _best(groups: Iterable[GroupRatios]) -> GroupRatios:
    return max(groups, key=lambda group: group.to_best or 0.0)


def _gini(metrics: Mapping[str, MetricRatios], unit: Unit) -> str:
    """The Gini index of every metric that has one."""
    found = [
        f"{plain(name)} {number(result.gini)}"
        for name, result in metrics.items()
        if result.gini is not None
    ]
    if not found:
        return ""
    return f"Gini index, 0 where all {unit.many} have the same value: {', '.join(found)}."


def _notes(ratios: Ratios, unit: Unit) -> tuple[str, ...]:
    parts = ratios.metrics.items()
    compared = [(name, result) for name, result in parts if result.by]
    said: dict[str, list[str]] = {}
    for name, result in compared:
        for sentence in _left_out(result, unit):
            said.setdefault(sentence, []).append(plain(name))
    notes = [
        # what holds for every metric is said once
        sentence if len(names) == len(compared) else f"{', '.join(names)}: {sentence}"
        for sentence, names in said.items()
    ]
    reasons = {plain(name): result.why_no_ratios for name, result in parts}
    for reason in dict.fromkeys(reasons.values()):
        if reason is not None:
            names = ", ".join(name for name, why in reasons.items() if why == reason)
            notes.append(f"No ratios of {names}: {reason}.")
    if ratios.n_pairs_left_out:
        notes.append(
            f"Single attributes are compared; the {ratios.n_pairs_left_out:,} pairs of attributes "
            "are too many."
        )
    return tuple(notes)


def _left_out(result: MetricRatios, unit: Unit) -> Iterator[str]:
    """The rate, and what is not compared or not listed."""
    if result.threshold is not None:
        yield f"The rate is the share of {unit.many} above the median, {number(result.threshold)}."
    else:
        yield f"The rate is the share of {unit.many} with 1."
    unknown = [
        f"{unit.count(one.n_unknown)} by {_names(one)}" for one in result.by if one.n_unknown
    ]
    if unknown:
        yield f"Unknown, and not compared with the best: {', '.join(unknown)}."
    small = [
        f"{plural(one.n_not_listed, 'group')} by {_names(one)}"
        for one in result.by
        if one.n_not_listed
    ]
    if small:
        yield f"Not listed, too small or unknown: {', '.join(small)}."
