"""Value against size of the groups, in the funnel of the null distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import plain
from fairrec.metrics.direction import harm
from fairrec.report.metric_words import end_names, mean_over
from fairrec.report.page.groups import (
    GroupRow,
    Key,
    PageGroups,
    chance_band,
    drawn_metrics,
    mark,
    others_of_fully_scored,
    short,
)
from fairrec.report.page.view import (
    Density,
    DensityCell,
    FunnelPoint,
    GroupChart,
    PageLimits,
    Point,
    Role,
    Shape,
    Tone,
)
from fairrec.report.words import number, plural
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary

FUNNEL_POINTS = 60


def group_charts(groups: PageGroups, limits: PageLimits) -> tuple[GroupChart, ...]:
    """One chart a metric; of very many metrics, some have words alone."""
    drawn = {*drawn_metrics(groups.summary, limits)}
    charts = []
    for at, name in enumerate(groups.summary.metrics):
        chart = _group_chart(groups, name, at, limits, len(drawn))
        charts.append(chart if name in drawn else replace(chart, **_UNDRAWN))
    return tuple(charts)


_UNDRAWN: dict[str, Any] = {
    **{"points": (), "density": None, "funnel": (), "funnel_fully_scored": ()},
    "note": "Not drawn.",
}


def place_marks(charts: Sequence[GroupChart]) -> list[tuple[Shape, Tone, str]]:
    """What the marks of charts mean: findings first, then the ends."""
    tones: tuple[Tone, ...] = ("worse", "better", "neutral")
    where = {"up": ", the highest", "down": ", the lowest"}
    served = {"worse": ", worse", "better": ", better", "neutral": ", no end is better"}
    marked = {
        (point.role != "finding", tones.index(point.tone), point.shape, point.mark)
        for chart in charts
        for point in chart.points
        if point.role != "group"
    }
    return [
        (shape, tones[at], f"{word} intersection of all attributes{where[shape] if at < 2 else ''}")
        if is_end
        else (shape, tones[at], f"{word}{served[tones[at]]}")
        for is_end, at, shape, word in sorted(marked)
    ]


def _group_chart(
    groups: PageGroups, metric: str, at: int, limits: PageLimits, n_metrics: int
) -> GroupChart:
    result = groups.summary.metrics[metric]
    roles = groups.roles(metric)
    everyone = groups.of_metric[metric]
    has_room = everyone.height <= limits.points // n_metrics
    # a selection of points would look like all of them: where they are too many, all are counted,
    # and the rows of the table can still be marked
    most = everyone.height if has_room else limits.rows // n_metrics
    shown = groups.shown(metric, roles, most)
    points = tuple(_point(row, roles, groups, result) for row in groups.rows(shown))
    sizes, values = (everyone[name].cast(pl.Float64).to_numpy() for name in ("support", "value"))
    size_range = _size_range(sizes)
    funnel = _funnel(result, size_range[0])
    funnel_fully_scored = _funnel_of_fully_scored(result, groups.summary, size_range[0])
    value_range = _value_range(
        [result.mean, *values[np.isfinite(values)]],
        (*funnel, *funnel_fully_scored),
        _possible(result),
    )
    drawn = None if has_room else density(sizes, values, size_range, value_range)
    return GroupChart(
        metric=plain(metric),
        anchor=f"chart-{at}",
        unit=groups.summary.unit,
        mean=result.mean,
        size_range=size_range,
        value_range=value_range,
        points=points,
        density=drawn,
        funnel=funnel,
        funnel_fully_scored=funnel_fully_scored,
        alternative=_alternative(groups, metric, sizes, drawn),
        note=""
        if drawn is None
        else f"All {everyone.height:,} groups are drawn, as density. Findings and both ends are "
        "marked one by one.",
    )


def _alternative(groups: PageGroups, metric: str, sizes: FloatArray, drawn: Density | None) -> str:
    """The chart in words."""
    result = groups.summary.metrics[metric]
    span = (
        f" of {sizes.min():,.0f} to {sizes.max():,.0f} {groups.summary.unit.many}"
        if len(sizes)
        else ""
    )
    as_density = (
        f" Hexagons are coloured by how many groups lie there, 1 to "
        f"{max(cell.n for cell in drawn.cells):,}."
        if drawn
        else ""
    )
    low, high = end_names(result)
    ends = "".join(
        f" {word.capitalize()} intersection: {groups.label(groups.key(end.group))}, "
        f"{number(end.value, result.mean)}."
        for word, end in ((high, result.advantaged), (low, result.disadvantaged))
        if end is not None
    )
    return (
        f"{plain(metric)} of {plural(len(sizes), 'group')}{span}, against their size; the "
        f"{mean_over(result, groups.summary)} is {number(result.mean)}.{as_density} "
        f"{plural(len(result.findings), 'finding')}.{ends}"
    )


def _point(
    row: GroupRow, roles: Mapping[Key, Role], groups: PageGroups, result: MetricResult
) -> Point:
    role = roles.get(row.key, "group")
    return Point(
        group=groups.number(row.key),
        label=groups.label(row.key),
        depth=row.depth,
        size=row.support,
        value=short(row.value),
        difference=None if row.difference is None else short(row.difference),
        p_adjusted=None if row.p_adjusted is None else short(row.p_adjusted),
        is_fully_scored=row.is_fully_scored,
        role=role,
        tone=_tone(role, row.difference, result.higher_is_better),
        shape=_shape(role, result.higher_is_better),
        mark=mark(role, result),
    )


def _tone(role: Role, difference: float | None, higher_is_better: bool | None) -> Tone:
    """The colour of a group: only of those that are marked, and where an end is better."""
    if role == "group" or higher_is_better is None:
        return "neutral"
    if role == "finding":
        return "worse" if harm(difference or 0.0, higher_is_better) > 0 else "better"
    return "better" if role == "best end" else "worse"


def _shape(role: Role, higher_is_better: bool | None) -> Shape:
    """The best end points up, unless the lowest value is best."""
    if role == "group":
        return "dot"
    if role == "finding":
        return "diamond"
    return "up" if (role == "best end") == (higher_is_better is not False) else "down"


def _size_range(sizes: FloatArray) -> tuple[float, float]:
    if not len(sizes):
        return 1.0, 10.0
    return max(0.5, float(sizes.min()) / 1.25), max(float(sizes.max()) * 1.25, 2.0)


def _possible(result: MetricResult) -> tuple[float, float]:
    """What no value can be below or above, as far as a result tells."""
    low, high = result.bounds or (None, None)
    if low is None:
        low = 0.0 if result.is_ratio_scale else -math.inf
    return low, math.inf if high is None else high


def _value_range(
    values: Sequence[float], funnel: Sequence[FunnelPoint], possible: tuple[float, float]
) -> tuple[float, float]:
    """All groups, the mean and what chance shows at the smallest size, with a little air.

    There is none beyond what is possible, unless a mark there would be cut in two.
    """
    lowest, highest = possible
    low = min((*values, *(step.low for step in funnel)))
    high = max((*values, *(step.high for step in funnel)))
    air = 0.06 * (high - low) or 0.05 * (abs(high) or 1.0)
    below, above = low - air, high + air
    if min(values) - air >= lowest:
        below = max(lowest, below)
    if max(values) + air <= highest:
        above = min(highest, above)
    return float(below), float(above)


def _funnel(result: MetricResult, first: float) -> tuple[FunnelPoint, ...]:
    """Around the mean of those compared, for a group that is part of them."""
    sizes = _sizes(first, result.n_compared - 1)
    return _around(result, sizes, result.n_compared - sizes)


def _funnel_of_fully_scored(
    result: MetricResult, summary: AuditSummary, first: float
) -> tuple[FunnelPoint, ...]:
    """For fully scored groups, of which the sample holds its share."""
    search = summary.search
    if search.users_scored == search.users_total or not result.n_compared:
        return ()
    sizes = _sizes(first, max(search.users_scored, 1))
    return _around(result, sizes, others_of_fully_scored(result, summary, sizes))


def _sizes(first: float, last: int) -> FloatArray:
    """Sizes on a log scale."""
    return np.geomspace(first, last, FUNNEL_POINTS) if last > first else np.zeros(0)


def _around(
    result: MetricResult, sizes: FloatArray, n_others: FloatArray
) -> tuple[FunnelPoint, ...]:
    """The band around the mean of all N.

    A group that is apart from n others by d is apart from the mean of all by d * n / N.
    """
    if result.sd is None or result.critical_tails is None:
        return ()
    ends = [
        result.mean + width * n_others / result.n_compared
        for width in chance_band(result, sizes, n_others)
    ]
    lows, highs = np.clip(ends, *_possible(result)).tolist()
    return tuple(
        FunnelPoint(short(size), short(low), short(high))
        for size, low, high in zip(sizes.tolist(), lows, highs, strict=True)
    )


COLUMNS = 34
ROWS = 21
"""Hexagons across the chart of a metric; about as wide as they are high on a wide screen."""
STRIDE = ROWS + 2
"""More than the number of any row: values on the edge belong to one half outside."""


def density(
    sizes: FloatArray,
    values: FloatArray,
    size_range: tuple[float, float],
    value_range: tuple[float, float],
) -> Density:
    """Every group counted in the one hexagon it lies in.

    Rows of hexagons lie half a hexagon apart from each other, so that the centres of the even and
    of the odd rows are two rectangular lattices; the nearer centre of the two is the one.

    Parameters
    ----------
    sizes, values : (n_groups,)
    size_range, value_range : the axes of the chart; sizes are on a log scale
    """
    first, last = np.log10(size_range)
    low, high = value_range
    width, row = (last - first) / COLUMNS, (high - low) / ROWS
    x, y = (np.log10(sizes) - first) / width, (values - low) / row
    even = np.stack([np.round(x), 2 * np.round(y / 2)])
    odd = np.stack([np.floor(x) + 0.5, 2 * np.floor(y / 2) + 1])
    centres = np.where(_apart(even, x, y) <= _apart(odd, x, y), even, odd)
    # one number a hexagon, as columns lie at halves: numbers are sorted far faster than pairs
    at_half, at_row = (2 * centres[0]).astype(np.int64), centres[1].astype(np.int64)
    cells, counts = np.unique(at_half * STRIDE + at_row, return_counts=True)
    halves, rows = np.divmod(cells, STRIDE)
    return Density(
        cells=tuple(
            DensityCell(short(10 ** (first + width * half / 2)), short(low + row * at), n)
            for half, at, n in zip(halves.tolist(), rows.tolist(), counts.tolist(), strict=True)
        ),
        width=width,
        height=row * 4 / 3,
    )


def _apart(centres: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Squared distance where a hexagon is one wide, and its rows the root of 3/4 apart."""
    across, up = centres[0] - x, centres[1] - y
    squared: FloatArray = across**2 + 0.75 * up**2
    return squared
