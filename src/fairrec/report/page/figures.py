"""Charts as specifications: of groups, of what is ruled out, and of what a search knew."""

from __future__ import annotations

from statistics import median
from typing import Any

from fairrec.core.audited_entity import Unit
from fairrec.report.page.groups import short
from fairrec.report.page.vega import (
    BETTER,
    CHANCE,
    CHOSEN,
    COUNT_STYLE,
    COUNTED,
    DIVERGING,
    DIVERGING_NEUTRAL,
    GROUP,
    HALO_STYLE,
    INK_STYLE,
    NOBODY,
    SERIES,
    TEXT_ON_MAP,
    WORSE,
    Figure,
    Spec,
    as_row,
    channel,
    layer,
    layered,
    where,
)
from fairrec.report.page.view import (
    Certificate,
    Correlation,
    Density,
    GroupChart,
    PairMap,
    SearchHistory,
)

WIDE = 20
"""Times the median from which on the axis is a log scale."""


def certificate_curve(view: Certificate, height: int = 220) -> Figure:
    """Everything above the line is ruled out, at once for all groups that are not shown worse."""
    first = view.steps[0].support
    end = max(view.largest, first + 1)
    harms = [step.harm for step in view.steps]
    # what is ruled out for few users may be a thousand times what is for many
    is_log = max(harms) > WIDE * median(harms) > 0
    least = min(filter(None, harms), default=1.0)
    top = 1.12 * max(*harms, view.tolerance or 0.0) or 1.0
    low = min(least, view.tolerance or least) / 1.5 if is_log else 0.0
    x = channel(
        "size:Q",
        title=f"{view.size_name}, at least (log scale)",
        scale={"type": "log", "domain": [first, end], "nice": False},
        axis={"format": "~s", "tickCount": 6, "grid": False},
    )
    scale = {"type": "log" if is_log else "linear", "domain": [low, top]}
    y = channel(
        "harm:Q",
        title=view.harm_name,
        scale={**scale, "nice": False, "clamp": True},
        axis={"tickCount": 5, "grid": not is_log},
    )
    # the last step holds for all larger groups
    held = [*view.steps, view.steps[-1].model_copy(update={"support": end})]
    data: dict[str, list[dict[str, Any]]] = {
        "steps": [
            {
                "size": one.support,
                "harm": max(low, short(one.harm)),
                "n_groups": one.n_groups,
                "low": low,
            }
            for one in held
        ],
        "tolerance": []
        if view.tolerance is None
        else [{"harm": view.tolerance, "text": "tolerance"}],
    }
    at = {"x": x, "y": y}
    tooltip = [
        channel("size:Q", title=f"{view.unit.many}, at least", format=","),
        channel("harm:Q", title="not ruled out, up to", format=".3~r"),
        channel("n_groups:Q", title="groups", format=","),
    ]
    stepwise = {"interpolate": "step-after"}
    layers = [
        layer("area", {**at, "y2": {"field": "low"}}, color=GROUP, opacity=0.2, **stepwise),
        layer("line", at, strokeWidth=2, style=INK_STYLE, **stepwise),
        # wide targets for the pointer
        layer("point", {**at, "tooltip": tooltip}, filled=True, size=140, opacity=0),
    ]
    if view.tolerance is not None:
        rule: dict[str, Any] = {"color": WORSE, "strokeWidth": 2, "strokeDash": [6, 4]}
        word: dict[str, Any] = {"align": "right", "baseline": "bottom", "dy": -4, "x": "width"}
        named = {"y": y, "text": channel("text:N")}
        layers += [
            layer("rule", {"y": y}, data="tolerance", **rule),
            layer("text", named, data="tolerance", fontSize=11.5, **word),
        ]
    return Figure(layered(layers, height, data="steps"), data)


def search_history(view: SearchHistory, height: int = 200) -> Figure:
    """Steps: the gap stays until a larger one is found."""
    encoding = {
        "x": channel(
            "users:Q",
            title=f"{view.unit.many} scored",
            scale={"zero": True},
            axis={"format": "~s", "tickCount": 5, "grid": False},
        ),
        "y": channel("gap:Q", title=f"gap in {view.metric}", axis={"tickCount": 5}),
        "tooltip": [
            channel("users:Q", title=f"{view.unit.many} scored", format=","),
            channel("gap:Q", title="gap", format=".3~r"),
        ],
    }
    layers = [
        layer("line", encoding, interpolate="step-after", strokeWidth=2, color=SERIES[1]),
        layer("point", encoding, filled=True, size=36, color=SERIES[1]),
    ]
    steps = [step.model_dump() for step in view.steps]
    return Figure(layered(layers, height, data="steps"), {"steps": steps})


IS_CHOSEN = "datum.group === chosen"
COLOURS = {"worse": WORSE, "better": BETTER, "neutral": GROUP}
SHAPES = {"diamond": "diamond", "up": "triangle-up", "down": "triangle-down", "dot": "circle"}
CORNERS = ((0, 2), (1, 1), (1, -1), (0, -2), (-1, -1), (-1, 1))
"""Of a hexagon, from its centre: in halves of its width and quarters of its height."""
GROUP_ENDS = "ends"
ZOOM = {
    "name": "grid",
    "bind": "scales",
    "select": {
        "type": "interval",
        "encodings": ["x", "y"],
        # a wheel alone scrolls the page
        "zoom": "wheel![event.ctrlKey || event.metaKey]",
        # and so does a finger: the browser takes it away in mid-drag, and the drag would never end
        "translate": "[pointerdown[event.pointerType === 'mouse'], window:pointerup]"
        " > window:pointermove!",
    },
    "views": [GROUP_ENDS],
}


def group_chart(chart: GroupChart, height: int = 320) -> Figure:
    """The chart of one metric.

    The parameter `chosen` is the number of the group to mark; `grid` holds what is zoomed to.
    """
    x = channel(
        "size:Q",
        title=f"{chart.unit.many} in the group (log scale)",
        scale={"type": "log", "domain": list(chart.size_range), "nice": False},
        axis={"format": "~s", "tickCount": 6, "grid": False},
    )
    y = channel(
        "value:Q",
        title=chart.metric,
        scale={"domain": list(chart.value_range), "nice": True, "zero": False},
        axis={"tickCount": 6},
    )
    data = {
        "points": [_row(point) for point in map(as_row, chart.points)],
        "funnel": [as_row(step) for step in chart.funnel],
        "funnel_fully_scored": [as_row(step) for step in chart.funnel_fully_scored],
        "density": [
            {"cell": at, **as_row(cell)}
            for at, cell in enumerate(chart.density.cells if chart.density else ())
        ],
        "mean": [{"value": chart.mean}],
    }
    # a light area alone is hard to see, and hexagons hide it: its edges are drawn on top of these
    edge: dict[str, Any] = {"fillOpacity": 0, "stroke": CHANCE, "strokeWidth": 1.2}
    halo: dict[str, Any] = {"fillOpacity": 0, "style": HALO_STYLE}
    bands, edges = (
        [_band(name, look) for name, look in looks if data[name]]
        for looks in (
            (("funnel", {"fillOpacity": 0.16}), ("funnel_fully_scored", {"fillOpacity": 0.05})),
            (
                *([("funnel", {**halo, "strokeWidth": 3})] if chart.density else []),
                ("funnel", edge),
                ("funnel_fully_scored", {**edge, "strokeDash": [5, 3]}),
            ),
        )
    )
    dashed: dict[str, Any] = {"strokeDash": [6, 4], "strokeWidth": 1.2, "color": CHANCE}
    mean = layer("rule", {"y": channel("value:Q")}, data="mean", clip=True, **dashed)
    tone = channel("tone:N", scale=_scale(COLOURS), legend=None)
    encoding = {
        "x": x,
        "y": y,
        "fill": tone,
        "fillOpacity": where("datum.known === 'fully scored'", 1, 0),
        "shape": channel("shape:N", scale=_scale(SHAPES), legend=None),
        "tooltip": _tooltip(chart.unit),
    }

    def points(role: str, encoding: Spec, **look: Any) -> Spec:
        shown = {"filled": False, "clip": True, "cursor": "pointer", "opacity": 1, **look}
        return layer("point", encoding, data="points", only=role, **shown)

    everyone = (
        _hexagons(chart.density, chart.unit)
        if chart.density
        else points("datum.role === 'group'", encoding, size=34, stroke=GROUP, strokeWidth=1.2)
    )
    below = [everyone, *edges] if chart.density else [*edges, everyone]
    at_ends = "datum.role === 'best end' || datum.role === 'worst end'"
    ends = points(at_ends, {**encoding, "stroke": tone}, size=125, strokeWidth=1.6)
    is_finding = "datum.role === 'finding'"
    findings = points(is_finding, encoding, size=125, strokeWidth=1.6, style=INK_STYLE)
    ring: dict[str, Any] = {"filled": False, "size": 420, "strokeWidth": 3.2, "color": CHOSEN}
    chosen = layer("point", {"x": x, "y": y}, data="points", only=IS_CHOSEN, clip=True, **ring)
    spec = layered(
        [*bands, *below, mean, {"name": GROUP_ENDS, **ends}, findings, chosen],
        height,
        resolve={"scale": {"color": "independent"}},
        params=[ZOOM, {"name": "chosen", "value": NOBODY}],
    )
    return Figure(spec, data)


def _band(name: str, look: Spec) -> Spec:
    """What chance keeps groups within."""
    encoding = {"x": channel("size:Q"), "y": channel("low:Q"), "y2": {"field": "high"}}
    return layer(
        "area", encoding, data=name, clip=True, color=CHANCE, interpolate="monotone", **look
    )


def _hexagons(density: Density, unit: Unit) -> Spec:
    """The hexagons of a density, as outlines: they keep tiling whatever is zoomed to."""
    most = max(cell.n for cell in density.cells)
    across, up = ([corner[axis] for corner in CORNERS] for axis in (0, 1))
    at_size = f"datum.size * pow(10, {density.width / 2} * {across}[datum.corner])"
    at_value = f"datum.value + {density.height / 4} * {up}[datum.corner]"
    encoding = {
        "x": channel("at_size:Q"),
        "y": channel("at_value:Q"),
        "order": channel("corner:Q"),
        "detail": channel("cell:N"),
        "opacity": channel(
            "n:Q",
            scale={"type": "log", "range": list(COUNTED)},
            legend={
                "title": "groups here",
                "orient": "top",
                "titleOrient": "left",
                "symbolType": "M0,-1L.87,-.5L.87,.5L0,1L-.87,.5L-.87,-.5Z",
                "symbolStrokeWidth": 0,
                "format": ",",
                "values": [10**power for power in range(len(str(most)))],
            },
        ),
        "tooltip": [
            channel("n:Q", title="groups here", format=","),
            channel("size:Q", title=f"{unit.many}, about", format=",.3~r"),
            channel("value:Q", title="value, about", format=".3~r"),
        ],
    }
    look: dict[str, Any] = {"filled": True, "interpolate": "linear-closed", "clip": True}
    styles = [HALO_STYLE, COUNT_STYLE]
    return {
        **layer("line", encoding, data="density", style=styles, strokeWidth=0.6, **look),
        "transform": [
            {"calculate": str([*range(len(CORNERS))]), "as": "corner"},
            {"flatten": ["corner"]},
            {"calculate": at_size, "as": "at_size"},
            {"calculate": at_value, "as": "at_value"},
        ],
    }


def _scale(looks: dict[str, str]) -> Spec:
    return {"domain": [*looks], "range": [*looks.values()]}


def _row(point: dict[str, Any]) -> dict[str, Any]:
    """What is drawn of a point."""
    is_fully_scored = point.pop("is_fully_scored")
    kept = {name: value for name, value in point.items() if name != "depth"}
    return {**kept, "known": "fully scored" if is_fully_scored else "from a sample"}


def _tooltip(unit: Unit) -> list[Spec]:
    return [
        channel("label:N", title="group"),
        channel("size:Q", title=unit.many, format=","),
        channel("value:Q", title="value", format=".3~r"),
        channel("difference:Q", title="difference to others", format="+.3~r"),
        channel("p_adjusted:Q", title="p adjusted", format=".3~f"),
        channel("mark:N", title="marked as"),
    ]


FADED = 0.3
"""How much of its colour a square keeps that chance alone explains."""
PER_CHARACTER = 6.2
"""Pixels that a character of a number needs."""


def pair_heat_map(view: PairMap) -> Figure:
    """The map of one pair and metric; `chosen` is the number of the group to mark.

    Numbers stand in all squares or in none: the longest must fit.
    """
    bare = {"labelLimit": 120, "domain": False, "ticks": False, "grid": False}
    at = {
        "x": channel(
            "column:N",
            title=view.column_name,
            sort=[*view.columns],
            axis={"labelAngle": -45, **bare},
        ),
        "y": channel("row:N", title=view.row_name, sort=[*view.rows], axis=bare),
    }
    colours = DIVERGING_NEUTRAL if view.ramp.is_neutral else DIVERGING
    scale = {"domain": [-1, 0, 1], "range": [*colours], "interpolate": "rgb"}
    squares = {
        **at,
        "color": channel("shade:Q", scale=scale, legend=None),
        "fillOpacity": where("datum.is_faded", FADED, 1),
        "stroke": {"value": CHOSEN},
        # a filter by the chosen group would be shorter, but Vega fails where none is left
        "strokeWidth": where("datum.group === chosen", 4.5, 0),
        "tooltip": [
            channel("label:N", title="group"),
            channel("size:Q", title=view.unit.many, format=","),
            channel("value:Q", title="value", format=".3~r"),
            channel("difference:Q", title="difference to others", format="+.3~r"),
            channel("p_adjusted:Q", title="p adjusted", format=".3~f"),
        ],
    }
    outline: dict[str, Any] = {"filled": False, "style": INK_STYLE, "strokeWidth": 2}
    longest = max((len(cell.text) for cell in view.cells), default=0)
    fits = f"bandwidth('x') >= {PER_CHARACTER * longest + 2:.0f}"
    numbers = {**at, "text": {"condition": {"test": fits, **channel("text:N")}, "value": ""}}
    # a faded square has the ground of the page, a full one is light on any ground
    on_colour: dict[str, Any] = {"color": TEXT_ON_MAP, "fontWeight": 600}
    layers = [
        layer("rect", squares, cornerRadius=3, cursor="pointer"),
        layer("rect", at, only="datum.is_finding", cornerRadius=3, tooltip=None, **outline),
        *(
            layer("text", numbers, only=which, fontSize=10.5, tooltip=None, **look)
            for which, look in (("datum.is_faded", {}), ("!datum.is_faded", on_colour))
        ),
    ]
    spec = layered(
        layers,
        round(min(44.0, max(22.0, 300 / len(view.rows))) * len(view.rows)),
        data="cells",
        params=[{"name": "chosen", "value": NOBODY}],
        autosize={"type": "fit-x", "contains": "padding"},
        config={"scale": {"bandPaddingInner": 0.06}},
    )
    return Figure(spec, {"cells": [as_row(cell) for cell in view.cells]})


CELL = 44


def correlation_map(view: Correlation) -> Figure:
    """Every two metrics, the number in each square."""
    order = list(view.metrics)
    bare = {"labelLimit": 110, "domain": False, "ticks": False, "grid": False}
    at = {
        "x": channel("column:N", title=None, sort=order, axis={"labelAngle": -45, **bare}),
        "y": channel("row:N", title=None, sort=order, axis=bare),
    }
    colours = {"domain": [-1, 0, 1], "range": [*DIVERGING_NEUTRAL], "interpolate": "rgb"}
    squares = {
        **at,
        "color": channel("correlation:Q", scale=colours, legend=None),
        "tooltip": [
            channel("row:N", title="metric"),
            channel("column:N", title="against"),
            channel("text:N", title="correlation"),
        ],
    }
    # the squares are light or mid-toned on any ground, so the ink on them stays dark
    numbers = {**at, "text": channel("text:N")}
    spec = layered(
        [
            layer("rect", squares, cornerRadius=3),
            layer("text", numbers, fontSize=12, color=TEXT_ON_MAP, tooltip=None),
        ],
        CELL * len(order),
        data="cells",
        autosize={"type": "fit-x", "contains": "padding"},
        config={"scale": {"bandPaddingInner": 0.06}},
    )
    return Figure(spec, {"cells": [as_row(cell) for cell in view.cells]})
