"""The table of groups, and findings side by side in all metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from fairrec.core.errors import plain
from fairrec.core.units import Unit
from fairrec.report.page.chart_view import Role
from fairrec.report.page.groups import PageGroups, mark
from fairrec.report.page.shown_groups import GroupRow, Key
from fairrec.report.page.view import PageLimits, SideBySideRow, TableRow
from fairrec.report.text.metric_words import p_adjusted
from fairrec.report.words import numbers, signed, signed_interval, with_sign

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
        shown = groups.frame.shown(metric, roles, most)
        n_all += groups.frame.of_metric[metric].height
        for place, row in enumerate(groups.frame.rows(shown)):
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
    difference, *_ = numbers(row.difference, row.difference_low, row.difference_high)
    return TableRow(
        group=groups.number(row.key),
        metric=plain(metric),
        label=groups.label(row.key),
        attributes=tuple(at for at, value in enumerate(row.key) if value is not None),
        users=f"{row.support:,}",
        value=value,
        interval="-" if row.value_low is None else f"{low} to {high}",
        difference="-" if row.difference is None else with_sign(difference),
        difference_interval=(
            "-"
            if row.difference is None or row.difference_low is None
            else signed_interval(row.difference_low, row.difference_high, row.difference)
        ),
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
        name: {groups.frame.key(finding.group) for finding in result.findings}
        for name, result in metrics.items()
    }
    keys = [
        *dict.fromkeys(
            groups.frame.key(finding.group)
            for result in metrics.values()
            for finding in result.findings
        )
    ][:SIDE_BY_SIDE]
    differences: dict[str, dict[Key, float | None]] = {}
    wanted = pl.DataFrame(keys, schema=dict.fromkeys(groups.frame.axes, pl.String), orient="row")
    for name in metrics:
        part = groups.frame.of_metric[name].join(
            wanted, on=groups.frame.axes, how="semi", nulls_equal=True
        )
        differences[name] = {row.key: row.difference for row in groups.frame.rows(part)}
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
