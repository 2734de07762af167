"""Value against size of the groups, in the funnel of the null distribution."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import plain
from fairrec.report.page.chart_view import FunnelPoint, GroupChart, Point, Role
from fairrec.report.page.groups import PageGroups, end_names, mark, short
from fairrec.report.page.shown_groups import GroupRow, Key
from fairrec.report.page.view import PageLimits
from fairrec.report.text.verdict import mean_over
from fairrec.report.words import number, plural
from fairrec.result.schema import AuditSummary, MetricResult

FUNNEL_POINTS = 60


def group_charts(groups: PageGroups, limits: PageLimits) -> tuple[GroupChart, ...]:
    """One chart a metric."""
    n_metrics = max(1, len(groups.summary.metrics))
    return tuple(
        _group_chart(groups, name, at, limits.points // n_metrics)
        for at, name in enumerate(groups.summary.metrics)
    )


def _group_chart(groups: PageGroups, metric: str, at: int, most: int) -> GroupChart:
    result = groups.summary.metrics[metric]
    roles = groups.roles(metric)
    shown = groups.frame.shown(metric, roles, most)
    points = tuple(_point(row, roles, groups, result) for row in groups.frame.rows(shown))
    n_all = groups.frame.of_metric[metric].height
    name = plain(metric)
    n_findings = sum(point.role == "finding" for point in points)
    low, high = end_names(result)
    sizes = [point.size for point in points]
    span = f" of {min(sizes):,} to {max(sizes):,} users" if sizes else ""
    ends = "".join(
        f" {word.capitalize()} full combination: {groups.label(groups.frame.key(end.group))}, "
        f"{number(end.value, result.mean)}."
        for word, end in ((high, result.advantaged), (low, result.disadvantaged))
        if end is not None
    )
    return GroupChart(
        metric=name,
        anchor=f"chart-{at}",
        mean=result.mean,
        points=points,
        funnel=_funnel(result, groups.summary),
        funnel_fully_scored=_funnel_of_fully_scored(result, groups.summary),
        low_name=low,
        high_name=high,
        alternative=(
            f"{name} of {plural(len(points), 'group')}{span}, against their size; the "
            f"{mean_over(result, groups.summary)} is {number(result.mean)}. "
            f"{plural(n_findings, 'finding')}.{ends}"
        ),
        note=f"{len(points):,} of {n_all:,} groups are drawn." if len(points) < n_all else "",
    )


def _point(
    row: GroupRow, roles: Mapping[Key, Role], groups: PageGroups, result: MetricResult
) -> Point:
    return Point(
        group=groups.number(row.key),
        label=groups.label(row.key),
        depth=row.depth,
        size=row.support,
        value=short(row.value),
        difference=None if row.difference is None else short(row.difference),
        p_adjusted=None if row.p_adjusted is None else short(row.p_adjusted),
        is_fully_scored=row.is_fully_scored,
        role=roles.get(row.key, "group"),
        mark=mark(roles.get(row.key, "group"), result),
    )


def _funnel(result: MetricResult, summary: AuditSummary) -> tuple[FunnelPoint, ...]:
    """Around the mean of those compared, for a group that is part of them.

    A difference to all others that is c standard errors wide is a deviation from the mean of all
    N of c * sd * sqrt((N - n) / (N n)) for a group of n.
    """
    n_all = result.n_compared
    last = n_all - 1
    sizes = _sizes(summary.coverage.min_users, last)
    return _around(result, sizes, np.sqrt((n_all - sizes) / (n_all * sizes)))


def _funnel_of_fully_scored(result: MetricResult, summary: AuditSummary) -> tuple[FunnelPoint, ...]:
    """For fully scored groups, of which the sample holds its share."""
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
    above, below = result.critical_tails or (result.critical, result.critical)
    widths = (result.sd * errors).tolist()
    return tuple(
        FunnelPoint(
            short(size), short(result.mean - below * width), short(result.mean + above * width)
        )
        for size, width in zip(sizes.tolist(), widths, strict=True)
    )
