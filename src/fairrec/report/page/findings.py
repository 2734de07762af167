"""Groups on the page: a card for each that was found, the table of all, findings side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from fairrec.core.audited_entity import EndWords, Unit
from fairrec.core.errors import plain
from fairrec.inputs.users import Value
from fairrec.report.answer import Served
from fairrec.report.covariates import explained
from fairrec.report.findings import (
    FoundGroup,
    because_of,
    format_difference,
    mean_outside,
    service_direction,
    simultaneous_interval,
    users_known,
)
from fairrec.report.metric_words import end_words, p_adjusted
from fairrec.report.missing import describe_unknown
from fairrec.report.page.groups import GroupRow, Key, PageGroups, mark
from fairrec.report.page.view import (
    FindingCard,
    GroupCard,
    OverlapCell,
    OverlapMap,
    OverlapRow,
    PageLimits,
    Role,
    SideBySideRow,
    TableRow,
)
from fairrec.report.verdict import Verdict, outcome_words
from fairrec.report.words import (
    number,
    numbers,
    percent,
    plural,
    signed,
    signed_with_interval,
)
from fairrec.result.metric_schema import MetricResult
from fairrec.statistics.findings import Finding

MANY_TIMES = 3
"""From here on a value is so many times another, not so many percent higher."""


def group_cards(groups: PageGroups, limits: PageLimits) -> tuple[tuple[GroupCard, ...], str]:
    """The groups that differ, worst first, and how many more there are."""
    found = groups.found
    cards = tuple(_group_card(group, groups) for group in found[: limits.findings])
    n_more = len(found) - len(cards)
    return cards, f"and {plural(n_more, 'more group')} in result.json" if n_more else ""


def _group_card(found: FoundGroup, groups: PageGroups) -> GroupCard:
    key = groups.key(found.group)
    name, first = found.first
    share = percent(first.n_users / groups.summary.n_users)
    return GroupCard(
        group=groups.number(key),
        label=groups.label(key),
        served=found.served,
        tag=_tag(found.served, end_words(name, groups.summary.unit)),
        users=f"{users_known(first)} {groups.summary.unit.noun(first.n_users)} ({share})",
        findings=tuple(
            _finding(metric, groups.summary.metrics[metric], finding, groups)
            for metric, finding in found.findings
        ),
    )


MOST_OVERLAPPING = 8


def overlap_map(groups: PageGroups) -> OverlapMap | None:
    """How many users the first findings share; None where there is none to share with.

    What two groups share is the group by the conditions of both, which the table of groups has
    unless it is too small or by too many attributes.
    """
    found = groups.found[:MOST_OVERLAPPING]
    if len(found) < 2:
        return None
    summary = groups.summary
    conditions = [dict(one.group) for one in found]
    unions = {groups.key({**a, **b}) for a in conditions for b in conditions}
    frame = groups.of_metric[found[0].first[0]]
    wanted = pl.DataFrame([*unions], schema=dict.fromkeys(groups.axes, pl.String), orient="row")
    known = frame.join(wanted, on=groups.axes, how="semi", nulls_equal=True)
    sizes = {row[:-1]: row[-1] for row in known.select(*groups.axes, "support").iter_rows()}
    deepest = len(groups.names) if summary.depth == "full" else summary.depth

    def cell(one: dict[str, Value], other: dict[str, Value]) -> OverlapCell:
        own, shared = sizes.get(groups.key(one)), sizes.get(groups.key({**one, **other}))
        if one is other:
            return OverlapCell("-" if own is None else f"{own:,}", None)
        if any(one.get(name, value) != value for name, value in other.items()):
            return OverlapCell("0", 0.0)
        if own and shared is not None:
            return OverlapCell(percent(shared / own), min(1.0, shared / own))
        n = len({**one, **other})
        is_small = n <= deepest or n == len(groups.names)
        return OverlapCell(f"<{summary.coverage.min_users:,}" if is_small else "?", 0.0)

    rows = tuple(
        OverlapRow(groups.label(groups.key(one)), tuple(cell(one, other) for other in conditions))
        for one in conditions
    )
    return OverlapMap(rows, len(groups.found) - len(found))


def _tag(served: Served, words: EndWords) -> str:
    return {"worse": words.worse, "better": words.better, "differs": "differs"}[served]


def no_findings(verdicts: tuple[Verdict, ...]) -> str:
    """What is said where there are no findings."""
    if all(verdict.status == "not tested" for verdict in verdicts):
        return "Nothing was tested for significance."
    if any(verdict.status == "inconclusive" for verdict in verdicts):
        return "None. This does not show that groups are equal: see what is ruled out, below."
    return "None. What is ruled out stands below."


def _finding(
    metric: str, result: MetricResult, finding: Finding, groups: PageGroups
) -> FindingCard:
    value, others = numbers(finding.value, mean_outside(finding))
    served, words = service_direction(finding, result), end_words(metric, groups.summary.unit)
    return FindingCard(
        metric=plain(metric),
        served=served,
        verdict=outcome_words(finding, result, words, groups.summary),
        value=value,
        others=others,
        difference=format_difference(finding),
        shrunken=format_difference(finding, finding.shrunken_difference),
        sentence=_sentence(metric, result, finding, groups.summary.adjustment is not None),
        interval=simultaneous_interval(finding),
        p_adjusted=p_adjusted(finding.p_adjusted, groups.summary),
        explained=explained(finding, groups.summary),
        unknown=describe_unknown(finding, result, groups.summary),
        folded=(
            f"{plural(finding.n_folded, 'overlapping group')} add"
            f"{'s' if finding.n_folded == 1 else ''} nothing to it"
            if finding.n_folded
            else ""
        ),
        because=because_of(finding, words),
    )


def _sentence(metric: str, result: MetricResult, finding: Finding, is_adjusted: bool) -> str:
    """How much worse or better, in words."""
    others = mean_outside(finding)
    raw = finding.value - others
    lower = "lower" if raw < 0 else "higher"
    how_much = number(abs(raw))
    if result.is_ratio_scale and others > 0:
        how_much = percent(abs(raw / others))
        if finding.value >= MANY_TIMES * others:
            how_much, lower = f"{finding.value / others:.2g} times", "as high"
    here, there = numbers(finding.value, others)
    whatever = "Unadjusted, " if is_adjusted else ""
    return (
        f"{whatever}{plain(metric)} is {here} for them and {there} for all others, {how_much} "
        f"{lower}."
    )


SIDE_BY_SIDE = 20
_KEPT_DIGITS = 9
"""Of a number that is sorted by or downloaded."""


def number_columns(unit: Unit, level: str, difference: str) -> tuple[str, ...]:
    """What the numbers of a row are.

    Parameters
    ----------
    unit : what the sizes of groups count
    level : the confidence of the intervals
    difference : what a difference is called
    """
    each, all_at_once = f"{level} interval, one at a time", f"its {level} interval, all at once"
    return (
        *(unit.many, "value", f"{each}, low", f"{each}, high"),
        *(difference, f"its {each}, low", f"its {each}, high"),
        *(f"shrunken {difference}", f"{all_at_once}, low", f"{all_at_once}, high", "p adjusted"),
    )


def table_columns(unit: Unit, level: str, difference: str) -> tuple[tuple[str, int | None], ...]:
    """The columns of the table, and the place of the number each is sorted by.

    Of the intervals that for one group at a time is shown, and sorted by its lower end.
    """
    numbers = enumerate(number_columns(unit, level, difference))
    spared = ("shrunken", f"its {level} interval, all at once")
    return (
        *(("metric", None), ("group", None)),
        *(
            (name.removesuffix(", low"), at)
            for at, name in numbers
            if not name.startswith(spared) and not name.endswith(", high")
        ),
    )


def table_rows(groups: PageGroups, limits: PageLimits) -> tuple[tuple[TableRow, ...], str]:
    """The rows of the table, least likely under chance first, and how many there are in all."""
    metrics = groups.summary.metrics
    most = max(1, limits.rows // max(1, len(metrics)))
    rows: list[tuple[tuple[float, int], TableRow]] = []
    n_all = 0
    for metric in metrics:
        roles = groups.roles(metric)
        shown = groups.shown(metric, roles, most)
        n_all += groups.of_metric[metric].height
        for place, row in enumerate(groups.rows(shown)):
            p = math.inf if row.p_adjusted is None else row.p_adjusted
            rows.append(((p, place), _table_row(metric, row, roles, groups)))
    rows.sort(key=lambda row: row[0])
    note = (
        f"{len(rows):,} of {n_all:,} rows are shown: findings, both ends, and the groups least "
        "likely under chance, the largest and the most extreme."
        if len(rows) < n_all
        else ""
    )
    return tuple(row for _, row in rows), note


def _table_row(
    metric: str, row: GroupRow, roles: Mapping[Key, Role], groups: PageGroups
) -> TableRow:
    value, low, high = numbers(row.value, row.value_low, row.value_high)
    difference = signed_with_interval(row.difference, row.difference_low, row.difference_high)
    return TableRow(
        group=groups.number(row.key),
        metric=plain(metric),
        label=groups.label(row.key),
        attributes=tuple(at for at, value in enumerate(row.key) if value is not None),
        users=f"{row.support:,}",
        value=value,
        interval="-" if row.value_low is None else f"{low} to {high}",
        difference=difference[0],
        difference_interval=difference[1],
        p_adjusted=("-" if row.p_adjusted is None else p_adjusted(row.p_adjusted, groups.summary)),
        numbers=tuple(
            None if one is None or not math.isfinite(one) else float(f"{one:.{_KEPT_DIGITS}g}")
            for one in (
                *(row.support, row.value, row.value_low, row.value_high),
                *(row.difference, row.difference_low, row.difference_high),
                *(row.shrunken_difference, row.simultaneous_low, row.simultaneous_high),
                row.p_adjusted,
            )
        ),
        role=roles.get(row.key, "group"),
        mark=mark(roles.get(row.key, "group"), groups.summary.metrics[metric]),
    )


def side_by_side(groups: PageGroups) -> tuple[SideBySideRow, ...]:
    """The findings with their difference in every metric."""
    metrics = groups.summary.metrics
    findings = {
        name: {groups.key(finding.group) for finding in result.findings}
        for name, result in metrics.items()
    }
    keys = [
        *dict.fromkeys(
            groups.key(finding.group) for result in metrics.values() for finding in result.findings
        )
    ][:SIDE_BY_SIDE]
    differences: dict[str, dict[Key, float | None]] = {}
    wanted = pl.DataFrame(keys, schema=dict.fromkeys(groups.axes, pl.String), orient="row")
    for name in metrics:
        part = groups.of_metric[name].join(wanted, on=groups.axes, how="semi", nulls_equal=True)
        differences[name] = {row.key: row.difference for row in groups.rows(part)}
    return tuple(
        SideBySideRow(
            group=groups.number(key),
            label=groups.label(key),
            differences=tuple(
                "-" if (gap := differences[name].get(key)) is None else signed(gap, result.mean)
                for name, result in metrics.items()
            ),
            is_finding=tuple(key in findings[name] for name in metrics),
        )
        for key in keys
    )
