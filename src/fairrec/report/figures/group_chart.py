"""Value of each group against its size, with the funnel in which chance alone keeps them."""

from __future__ import annotations

from typing import Any

from fairrec.report.figures.figure import Figure, fields_of
from fairrec.report.figures.palette import (
    BETTER,
    CHANCE,
    CHOSEN,
    COUNT_STYLE,
    COUNTED,
    GROUP,
    HALO_STYLE,
    INK_STYLE,
    NOBODY,
    WORSE,
)
from fairrec.report.page.chart_view import Density, GroupChart

IS_CHOSEN = "datum.group === chosen"
COLOURS = {"worse": WORSE, "better": BETTER, "neutral": GROUP}
SHAPES = {"diamond": "diamond", "up": "triangle-up", "down": "triangle-down", "dot": "circle"}
CORNERS = ((0, 2), (1, 1), (1, -1), (0, -2), (-1, -1), (-1, 1))
"""Of a hexagon, from its centre: in halves of its width and quarters of its height."""


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
        scale=alt.Scale(type="log", domain=list(chart.size_range), nice=False),
        axis=alt.Axis(format="~s", tickCount=6, grid=False),
    )
    y = alt.Y(
        "value:Q",
        title=chart.metric,
        scale=alt.Scale(domain=list(chart.value_range), nice=True, zero=False),
        axis=alt.Axis(tickCount=6),
    )
    data = {
        "points": [_row(point) for point in map(fields_of, chart.points)],
        "funnel": [fields_of(step) for step in chart.funnel],
        "funnel_fully_scored": [fields_of(step) for step in chart.funnel_fully_scored],
        "density": [
            {"cell": at, **fields_of(cell)}
            for at, cell in enumerate(chart.density.cells if chart.density else ())
        ],
        "mean": [{"value": chart.mean}],
    }
    # a light area alone is hard to see, and hexagons hide it: its edges are drawn on top of these
    edge: dict[str, Any] = {"fillOpacity": 0, "stroke": CHANCE, "strokeWidth": 1.2}
    halo: dict[str, Any] = {"fillOpacity": 0, "style": HALO_STYLE}
    bands, edges = (
        [
            alt.Chart(alt.NamedData(name))
            .mark_area(clip=True, color=CHANCE, aria=False, interpolate="monotone", **look)
            .encode(x=alt.X("size:Q"), y=alt.Y("low:Q"), y2="high:Q")
            for name, look in looks
            if data[name]
        ]
        for looks in (
            (("funnel", {"fillOpacity": 0.16}), ("funnel_fully_scored", {"fillOpacity": 0.05})),
            (
                *([("funnel", {**halo, "strokeWidth": 3})] if chart.density else []),
                ("funnel", edge),
                ("funnel_fully_scored", {**edge, "strokeDash": [5, 3]}),
            ),
        )
    )
    mean = (
        alt.Chart(alt.NamedData("mean"))
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.2, color=CHANCE, clip=True, aria=False)
        .encode(y="value:Q")
    )
    base = alt.Chart(alt.NamedData("points")).encode(
        x=x,
        y=y,
        fill=alt.Fill("tone:N", scale=_scale(alt, COLOURS), legend=None),
        fillOpacity=alt.condition("datum.known === 'fully scored'", alt.value(1), alt.value(0)),
        shape=alt.Shape("shape:N", scale=_scale(alt, SHAPES), legend=None),
        tooltip=_tooltip(alt),
    )
    look: dict[str, Any] = {
        "filled": False,
        "clip": True,
        "aria": False,
        "cursor": "pointer",
        "opacity": 1,
    }
    everyone = (
        _hexagons(alt, chart.density)
        if chart.density
        else base.transform_filter("datum.role === 'group'").mark_point(
            **look, size=34, stroke=GROUP, strokeWidth=1.2
        )
    )
    below = [everyone, *edges] if chart.density else [*edges, everyone]
    ends = (
        base.transform_filter("datum.role === 'best end' || datum.role === 'worst end'")
        .mark_point(**look, size=125, strokeWidth=1.6)
        .encode(stroke=alt.Stroke("tone:N", scale=_scale(alt, COLOURS), legend=None))
    )
    findings = base.transform_filter("datum.role === 'finding'").mark_point(
        **look, size=125, strokeWidth=1.6, style=INK_STYLE
    )
    chosen = (
        alt.Chart(alt.NamedData("points"))
        .transform_filter(IS_CHOSEN)
        .mark_point(filled=False, size=420, strokeWidth=3.2, color=CHOSEN, clip=True, aria=False)
        .encode(x=x, y=y)
    )
    layered = (
        alt.layer(*bands, *below, mean, ends.add_params(zoom), findings, chosen)
        .resolve_scale(color="independent")
        .add_params(alt.param(name="chosen", value=NOBODY))
        .properties(
            width="container", height=height, autosize={"type": "fit", "contains": "padding"}
        )
    )
    return Figure(layered, data)


def _hexagons(alt: Any, density: Density) -> Any:
    """The hexagons of a density, as outlines: they keep tiling whatever is zoomed to."""
    most = max(cell.n for cell in density.cells)
    across, up = ([corner[axis] for corner in CORNERS] for axis in (0, 1))
    return (
        alt.Chart(alt.NamedData("density"))
        .transform_calculate(corner=str([*range(len(CORNERS))]))
        .transform_flatten(["corner"])
        .transform_calculate(
            at_size=f"datum.size * pow(10, {density.width / 2} * {across}[datum.corner])",
            at_value=f"datum.value + {density.height / 4} * {up}[datum.corner]",
        )
        .mark_line(
            filled=True,
            interpolate="linear-closed",
            clip=True,
            aria=False,
            style=[HALO_STYLE, COUNT_STYLE],
            strokeWidth=0.6,
        )
        .encode(
            x="at_size:Q",
            y="at_value:Q",
            order="corner:Q",
            detail="cell:N",
            opacity=alt.Opacity(
                "n:Q",
                scale=alt.Scale(type="log", range=list(COUNTED)),
                legend=alt.Legend(
                    title="groups here",
                    orient="top",
                    titleOrient="left",
                    symbolType="M0,-1L.87,-.5L.87,.5L0,1L-.87,.5L-.87,-.5Z",
                    symbolStrokeWidth=0,
                    format=",",
                    values=[10**power for power in range(len(str(most)))],
                ),
            ),
            tooltip=[
                alt.Tooltip("n:Q", title="groups here", format=","),
                alt.Tooltip("size:Q", title="users, about", format=",.3~r"),
                alt.Tooltip("value:Q", title="value, about", format=".3~r"),
            ],
        )
    )


def _scale(alt: Any, looks: dict[str, str]) -> Any:
    return alt.Scale(domain=[*looks], range=[*looks.values()])


def _row(point: dict[str, Any]) -> dict[str, Any]:
    """What is drawn of a point."""
    is_fully_scored = point.pop("is_fully_scored")
    kept = {name: value for name, value in point.items() if name != "depth"}
    return {**kept, "known": "fully scored" if is_fully_scored else "from a sample"}


def _tooltip(alt: Any) -> list[Any]:
    return [
        alt.Tooltip("label:N", title="group"),
        alt.Tooltip("size:Q", title="users", format=","),
        alt.Tooltip("value:Q", title="value", format=".3~r"),
        alt.Tooltip("difference:Q", title="difference to others", format="+.3~r"),
        alt.Tooltip("p_adjusted:Q", title="p adjusted", format=".3~f"),
        alt.Tooltip("mark:N", title="marked as"),
    ]
