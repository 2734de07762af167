"""Value of each group against its size, with the funnel in which chance alone keeps them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fairrec.report.figures.figure import Figure
from fairrec.report.figures.palette import BETTER, CHANCE, CHOSEN, FINDING, GROUP, NOBODY, WORSE
from fairrec.report.page.chart_view import GroupChart

IS_CHOSEN = "datum.group === chosen"
ROLES = ["finding", "best end", "worst end", "group"]
COLOURS = [FINDING, BETTER, WORSE, GROUP]
SHAPES = ["diamond", "triangle-up", "triangle-down", "circle"]


def group_chart(chart: GroupChart, height: int = 320) -> Figure:
    """The chart of one metric.

    The parameter `chosen` is the number of the group to mark; `grid` holds what is zoomed to.
    """
    import altair as alt

    zoom = alt.selection_interval(
        name="grid",
        bind="scales",
        encodings=["x", "y"],
        # a wheel alone scrolls the page
        zoom="wheel![event.ctrlKey || event.metaKey]",
        # and so does a finger: the browser takes it away in mid-drag, and the drag would never end
        translate="[pointerdown[event.pointerType === 'mouse'], window:pointerup]"
        " > window:pointermove!",
    )
    x = alt.X(
        "size:Q",
        title="users in the group (log scale)",
        scale=alt.Scale(type="log", domain=list(_sizes(chart)), nice=False),
        axis=alt.Axis(format="~s", tickCount=6, grid=False),
    )
    y = alt.Y(
        "value:Q",
        title=chart.metric,
        scale=alt.Scale(domain=list(_values(chart)), nice=True, zero=False),
        axis=alt.Axis(tickCount=6),
    )
    data = {
        "points": [_row(point) for point in map(asdict, chart.points)],
        "funnel": [asdict(step) for step in chart.funnel],
        "funnel_fully_scored": [asdict(step) for step in chart.funnel_fully_scored],
        "mean": [{"value": chart.mean}],
    }
    bands = [
        alt.Chart(alt.NamedData(name))
        .mark_area(clip=True, color=CHANCE, aria=False, interpolate="monotone", **look)
        .encode(x=alt.X("size:Q"), y=alt.Y("low:Q"), y2="high:Q")
        for name, look in (
            ("funnel", {"opacity": 0.16}),
            (
                "funnel_fully_scored",
                {"fillOpacity": 0.05, "stroke": CHANCE, "strokeDash": [5, 3], "strokeWidth": 1},
            ),
        )
        if data[name]
    ]
    mean = (
        alt.Chart(alt.NamedData("mean"))
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.2, color=CHANCE, clip=True, aria=False)
        .encode(y="value:Q")
    )
    base = alt.Chart(alt.NamedData("points"))
    dots = (
        base.mark_point(filled=False, clip=True, aria=False, cursor="pointer", strokeWidth=1.2)
        .encode(
            x=x,
            y=y,
            color=alt.Color("role:N", scale=alt.Scale(domain=ROLES, range=COLOURS), legend=None),
            shape=alt.Shape("role:N", scale=alt.Scale(domain=ROLES, range=SHAPES), legend=None),
            size=alt.condition("datum.role === 'group'", alt.value(34), alt.value(125)),
            fill=alt.Fill("role:N", scale=alt.Scale(domain=ROLES, range=COLOURS), legend=None),
            fillOpacity=alt.condition("datum.known === 'fully scored'", alt.value(1), alt.value(0)),
            opacity=alt.condition("datum.role === 'group'", alt.value(0.62), alt.value(1)),
            order=alt.Order("rank:Q"),
            tooltip=_tooltip(alt),
        )
        .add_params(zoom)
    )
    chosen = (
        base.transform_filter(IS_CHOSEN)
        .mark_point(filled=False, size=420, strokeWidth=3.2, color=CHOSEN, clip=True, aria=False)
        .encode(x=x, y=y)
    )
    layered = (
        alt.layer(*bands, mean, dots, chosen)
        .add_params(alt.param(name="chosen", value=NOBODY))
        .properties(
            width="container", height=height, autosize={"type": "fit", "contains": "padding"}
        )
    )
    return Figure(layered, data)


def _row(point: dict[str, Any]) -> dict[str, Any]:
    """What is drawn of a point; groups that stand out come last, on top of the others."""
    is_fully_scored = point.pop("is_fully_scored")
    kept = {name: value for name, value in point.items() if name != "depth"}
    return {
        **kept,
        "known": "fully scored" if is_fully_scored else "from a sample",
        "rank": 0 if point["role"] == "group" else 1,
    }


def _tooltip(alt: Any) -> list[Any]:
    return [
        alt.Tooltip("label:N", title="group"),
        alt.Tooltip("size:Q", title="users", format=","),
        alt.Tooltip("value:Q", title="value", format=".3~r"),
        alt.Tooltip("difference:Q", title="difference to others", format="+.3~r"),
        alt.Tooltip("p_adjusted:Q", title="p adjusted", format=".3~f"),
        alt.Tooltip("mark:N", title="marked as"),
    ]


def _sizes(chart: GroupChart) -> tuple[float, float]:
    sizes = [point.size for point in chart.points] or [1, 10]
    return max(0.5, min(sizes) / 1.25), max(max(sizes) * 1.25, 2.0)


def _values(chart: GroupChart) -> tuple[float, float]:
    """The span of the groups and the mean, with a little air."""
    values = [chart.mean, *(point.value for point in chart.points)]
    low, high = min(values), max(values)
    air = 0.06 * (high - low) or 0.05 * (abs(high) or 1.0)
    return low - air, high + air
