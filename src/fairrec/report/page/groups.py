"""The parts of the page about groups: charts, maps of two attributes, table, correlation."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import plain
from fairrec.inputs.users import MISSING
from fairrec.report.page.shown_groups import GroupFrame, GroupRow, Key
from fairrec.report.page.view import (
    Correlation,
    CorrelationCell,
    FunnelPoint,
    GroupChart,
    PageLimits,
    PairCell,
    PairMap,
    Point,
    Role,
    SideBySideRow,
    TableRow,
)
from fairrec.report.words import number, p_value, plural, signed
from fairrec.result.schema import AuditSummary, MetricResult

FUNNEL_POINTS = 60
PAIRS_SHOWN = 10
AXIS_VALUES = 25
SIDE_BY_SIDE = 20
ROUNDED = 6
_FIRST_NUMBER = re.compile(
    r"(?P<below>under|below|up to|less than|<=?|≤)?\s*[\[(]?(?P<number>-?\d{1,15}(\.\d{1,15})?)"
)


@dataclass(slots=True)
class Groups:
    """The groups of a result: their rows, what they are called, and a number for each on the page.

    A group has the same number in every metric, so that choosing it in one chart marks it in all.
    """

    frame: GroupFrame
    summary: AuditSummary
    _numbers: dict[Key, int] = field(default_factory=dict)
    _labels: dict[Key, str] = field(default_factory=dict)

    def number(self, key: Key) -> int:
        """The number of a group on the page."""
        return self._numbers.setdefault(key, len(self._numbers))

    def label(self, key: Key) -> str:
        """What a group is called."""
        if key not in self._labels:
            self._labels[key] = self.frame.label(key)
        return self._labels[key]

    def roles(self, metric: str) -> dict[Key, Role]:
        """The groups of a metric that are more than one among many."""
        result = self.summary.metrics[metric]
        roles: dict[Key, Role] = {}
        for end in result.most_advantaged:
            roles[self.frame.key(end.group)] = "best end"
        for end in result.most_disadvantaged:
            roles[self.frame.key(end.group)] = "worst end"
        for finding in result.findings:
            roles[self.frame.key(finding.group)] = "finding"
        return roles


def group_charts(groups: Groups, limits: PageLimits) -> tuple[GroupChart, ...]:
    """One chart a metric."""
    n_metrics = max(1, len(groups.summary.metrics))
    return tuple(
        _group_chart(groups, name, at, limits.points // n_metrics)
        for at, name in enumerate(groups.summary.metrics)
    )


def _group_chart(groups: Groups, metric: str, at: int, most: int) -> GroupChart:
    result = groups.summary.metrics[metric]
    roles = groups.roles(metric)
    shown = groups.frame.shown(metric, roles, most)
    points = tuple(_point(row, roles, groups, result) for row in groups.frame.rows(shown))
    n_all = groups.frame.of_metric[metric].height
    name = plain(metric)
    n_findings = sum(point.role == "finding" for point in points)
    low, high = _end_names(result)
    sizes = [point.size for point in points]
    span = f" of {min(sizes):,} to {max(sizes):,} users" if sizes else ""
    ends = "".join(
        f" {word.capitalize()} full combination: {groups.label(groups.frame.key(end.group))}, "
        f"{number(end.value)}."
        for word, end in ((high, result.advantaged), (low, result.disadvantaged))
        if end is not None
    )
    return GroupChart(
        metric=name,
        anchor=f"chart-{at}",
        mean=result.mean,
        points=points,
        funnel=_funnel(result, groups.summary),
        funnel_whole=_funnel_of_whole(result, groups.summary),
        low_name=low,
        high_name=high,
        alternative=(
            f"{name} of {plural(len(points), 'group')}{span}, against their size; the mean of all "
            f"users is {number(result.mean)}. {plural(n_findings, 'finding')}.{ends}"
        ),
        note=f"{len(points):,} of {n_all:,} groups are drawn." if len(points) < n_all else "",
    )


def _point(row: GroupRow, roles: Mapping[Key, Role], groups: Groups, result: MetricResult) -> Point:
    return Point(
        group=groups.number(row.key),
        label=groups.label(row.key),
        depth=row.depth,
        size=row.support,
        value=_short(row.value),
        difference=None if row.difference is None else _short(row.difference),
        p_adjusted=None if row.p_adjusted is None else _short(row.p_adjusted),
        is_whole=row.is_whole,
        role=roles.get(row.key, "group"),
        mark=_mark(roles.get(row.key, "group"), result),
    )


def _mark(role: Role, result: MetricResult) -> str:
    low, high = _end_names(result)
    words = {"group": "", "finding": "finding", "best end": high, "worst end": low}
    return words[role]


def _short(value: float) -> float:
    """Digits enough for a drawing."""
    return float(f"{value:.{ROUNDED}g}")


def _end_names(result: MetricResult) -> tuple[str, str]:
    return ("lowest", "highest") if result.higher_is_better is None else ("worst", "best")


def _funnel(result: MetricResult, summary: AuditSummary) -> tuple[FunnelPoint, ...]:
    """Around the mean of those compared, for a group that is part of them.

    A difference to all others that is c standard errors wide is a deviation from the mean of all
    N of c * sd * sqrt((N - n) / (N n)) for a group of n.
    """
    n_all = result.n_compared
    last = n_all - 1
    sizes = _sizes(summary.coverage.min_users, last)
    return _around(result, sizes, np.sqrt((n_all - sizes) / (n_all * sizes)))


def _funnel_of_whole(result: MetricResult, summary: AuditSummary) -> tuple[FunnelPoint, ...]:
    """For groups scored in full, of which the sample holds its share."""
    search = summary.search
    if search.users_scored == search.users_total or not result.n_compared:
        return ()
    share = result.n_compared / summary.n_users
    sizes = _sizes(summary.coverage.min_users, max(search.users_scored, 1))
    others = result.n_compared - share * sizes
    return _around(
        result,
        sizes,
        np.sqrt((sizes + others) / (sizes * others)) * others / result.n_compared,
    )


def _sizes(first: int, last: int) -> FloatArray:
    """Sizes on a log scale, from a little below the smallest group."""
    if last <= first:
        return np.zeros(0)
    return np.geomspace(max(1, 0.75 * first), last, FUNNEL_POINTS)


def _around(result: MetricResult, sizes: FloatArray, errors: FloatArray) -> tuple[FunnelPoint, ...]:
    if result.sd is None or result.critical is None:
        return ()
    reach = result.critical * result.sd * errors
    return tuple(
        FunnelPoint(_short(size), _short(result.mean - width), _short(result.mean + width))
        for size, width in zip(sizes.tolist(), reach.tolist(), strict=True)
    )


def pair_maps(groups: Groups, limits: PageLimits) -> tuple[tuple[PairMap, ...], str]:
    """Maps of two attributes, the most telling pair first, and what was left out."""
    by_metric = {name: groups.frame.pairs(name) for name in groups.summary.metrics}
    lowest: dict[tuple[int, int], float] = {}
    for parts in by_metric.values():
        for pair, part in parts.items():
            found = part["p_adjusted"].min()
            p = float(found) if isinstance(found, float) else 1.0
            lowest[pair] = min(p, lowest.get(pair, 1.0))
    if not lowest:
        return (), "No group of exactly two attributes was looked at."
    ranked = sorted(lowest, key=lambda pair: (lowest[pair], pair))
    maps: list[PairMap] = []
    n_cells = n_pairs = 0
    for pair in ranked[:PAIRS_SHOWN]:
        drawn = [
            _pair_map(groups, name, pair, parts[pair])
            for name, parts in by_metric.items()
            if pair in parts
        ]
        n_cells += sum(len(chart.cells) for chart in drawn)
        if maps and n_cells > limits.cells:
            break
        maps += drawn
        n_pairs += 1
    left = []
    if n_pairs < len(ranked):
        left.append(f"{n_pairs:,} of {plural(len(ranked), 'pair')} of attributes are drawn.")
    if any(AXIS_VALUES in (len(chart.rows), len(chart.columns)) for chart in maps):
        left.append(f"Of attributes with more values, the {AXIS_VALUES} largest are drawn.")
    return tuple(maps), " ".join(left)


def _pair_map(groups: Groups, metric: str, pair: tuple[int, int], part: pl.DataFrame) -> PairMap:
    result = groups.summary.metrics[metric]
    frame = groups.frame
    rows_at, columns_at = pair
    axes = [frame.axes[at] for at in pair]
    for axis in axes:
        largest = part.group_by(axis).agg(pl.col("support").sum()).top_k(AXIS_VALUES, by="support")
        part = part.join(largest, on=axis, how="semi", maintain_order="left")
    rows = frame.rows(part)
    findings = {key for key, role in groups.roles(metric).items() if role == "finding"}
    sign = -1 if result.higher_is_better is False else 1
    largest_difference = max((abs(row.difference or 0) for row in rows), default=0) or 1.0
    low, high = _end_names(result)
    row_label, column_label = (
        _axis_labels({row.key[at] for row in rows}) for at in (rows_at, columns_at)
    )
    return PairMap(
        metric=plain(metric),
        row_name=plain(frame.names[rows_at]),
        column_name=plain(frame.names[columns_at]),
        rows=tuple(row_label.values()),
        columns=tuple(column_label.values()),
        cells=tuple(
            PairCell(
                group=groups.number(row.key),
                label=groups.label(row.key),
                row=row_label[row.key[rows_at]],
                column=column_label[row.key[columns_at]],
                size=row.support,
                value=_short(row.value),
                difference=None if row.difference is None else _short(row.difference),
                p_adjusted=None if row.p_adjusted is None else _short(row.p_adjusted),
                shade=round(sign * (row.difference or 0) / largest_difference, 3),
                is_finding=row.key in findings,
            )
            for row in rows
        ),
        low_name=low,
        high_name=high,
    )


def _axis_labels(values: Set[Any]) -> dict[Any, str]:
    """A short text for each value, in order: numbers by size, then words, what is missing last.

    Long values may be alike where they are cut; then they are numbered.

    >>> [*_axis_labels({"b" * 50, "b" * 60, "a"}).values()][1:]
    ['bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb… (2)']
    """
    labels: dict[Any, str] = {}
    n_alike: Counter[str] = Counter()
    for value in sorted(values, key=value_order):
        short = plain(value, 40)
        n_alike[short] += 1
        labels[value] = short if n_alike[short] == 1 else f"{short} ({n_alike[short]})"
    return labels


def value_order(value: str) -> tuple[int, float, str]:
    """Numbers and ranges by their first number, then words, what is missing last.

    >>> sorted(["b", "(missing)", "18-24", "9", "under 18", "a"], key=value_order)
    ['9', 'under 18', '18-24', 'a', 'b', '(missing)']
    """
    if value == MISSING:
        return 2, 0.0, value
    found = _FIRST_NUMBER.match(value)
    if found is None:
        return 1, 0.0, value
    below = 1e-9 if found["below"] else 0.0
    return 0, float(found["number"]) - below, value


def table_rows(groups: Groups, limits: PageLimits) -> tuple[tuple[TableRow, ...], str]:
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


def _table_row(metric: str, row: GroupRow, roles: Mapping[Key, Role], groups: Groups) -> TableRow:
    return TableRow(
        group=groups.number(row.key),
        metric=plain(metric),
        label=groups.label(row.key),
        attributes=tuple(at for at, value in enumerate(row.key) if value is not None),
        users=f"{row.support:,}",
        value=number(row.value),
        interval=_interval(row.value_low, row.value_high),
        difference="-" if row.difference is None else signed(row.difference),
        difference_interval=_interval(row.difference_low, row.difference_high, is_signed=True),
        p_adjusted="-" if row.p_adjusted is None else p_value(row.p_adjusted),
        role=roles.get(row.key, "group"),
        mark=_mark(roles.get(row.key, "group"), groups.summary.metrics[metric]),
    )


def _interval(low: float | None, high: float | None, is_signed: bool = False) -> str:
    if low is None or high is None:
        return "-"
    word = signed if is_signed else number
    return f"{word(low)} to {word(high)}"


def side_by_side(groups: Groups) -> tuple[SideBySideRow, ...]:
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
                "-" if (gap := differences[name].get(key)) is None else signed(gap)
                for name in metrics
            ),
            is_finding=tuple(key in findings[name] for name in metrics),
        )
        for key in keys
    )


def metric_correlation(groups: Groups) -> Correlation | None:
    """Pearson's correlation of every two metrics over the full combinations known for both."""
    names = [*groups.summary.metrics]
    if len(names) < 2:
        return None
    values = groups.frame.full_values(names)
    is_known = ~np.isnan(values)
    if is_known.sum(axis=1).min() < 3:
        return None
    cells = []
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            both = is_known[i] & is_known[j]
            found = _pearson(values[i, both], values[j, both])
            text = "-" if found is None else f"{found:+.2f}"
            cells.append(CorrelationCell(plain(first), plain(second), found, text))
    n_groups = int(is_known.any(axis=0).sum())
    return Correlation(
        metrics=tuple(plain(name) for name in names),
        cells=tuple(cells),
        sentence=(
            f"Pearson's correlation of group values over {plural(n_groups, 'full combination')}: "
            "near +1, two metrics favour the same groups; near -1, one favours those the other "
            "does not."
        ),
    )


def _pearson(one: FloatArray, other: FloatArray) -> float | None:
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 4)
