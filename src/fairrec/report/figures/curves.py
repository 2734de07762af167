"""Curves: what is ruled out, and what a search knew."""

from __future__ import annotations

from statistics import median
from typing import Any

from fairrec.report.figures.figure import (
    GROUP,
    INK_STYLE,
    SERIES,
    WORSE,
    Figure,
    channel,
    fields_of,
    layer,
    layered,
)
from fairrec.report.page.chart_view import Certificate, SearchHistory

WIDE = 20
"""Times the median from which on the axis is a log scale."""


def certificate_curve(view: Certificate, height: int = 220) -> Figure:
    """Everything above the line is ruled out, at once for all groups that are not shown worse."""
    first = view.steps[0].size
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
    steps = [{**fields_of(step), "harm": max(low, step.harm), "low": low} for step in view.steps]
    line = [*steps, {**steps[-1], "size": end}]
    data = {
        "steps": line,
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
