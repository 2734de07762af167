"""Curves: what is ruled out, what a search knew, and what a re-ranking does to a metric."""

from __future__ import annotations

from itertools import product
from statistics import median
from typing import Any

from fairrec.mitigation.charts import Slope
from fairrec.mitigation.view import TradeOff
from fairrec.report.figures.figure import (
    BETTER,
    CHOSEN,
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
from fairrec.report.words import number

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


def trade_off(view: TradeOff, height: int = 240) -> Figure:
    """Lines over the strength, one for each set of users, and the strength that was taken."""
    who = list(dict.fromkeys(line.who for line in view.lines))
    forms = ["circle", "square", "diamond"][: len(who)]
    encoding = {
        "x": channel(
            "strength:Q",
            title="strength",
            scale={"domain": [0, 1]},
            axis={"tickCount": 5, "grid": False},
        ),
        "y": channel("value:Q", title=view.metric, scale={"zero": False}, axis={"tickCount": 5}),
        "color": channel(
            "who:N",
            title=None,
            scale={"domain": who, "range": [*SERIES[: len(who)]]},
            legend={"orient": "top", "direction": "vertical", "labelLimit": 260},
        ),
        "tooltip": [
            channel("strength:Q", format=".2~f"),
            channel("value:Q", title=view.metric, format=".4~r"),
            channel("who:N", title="users"),
        ],
    }
    # the form tells the lines apart where colours do not
    shape = channel("who:N", title=None, scale={"domain": who, "range": forms})
    taken = {
        "x": channel("strength:Q"),
        "tooltip": channel("strength:Q", title="strength taken"),
    }
    layers = [
        layer("rule", taken, data="taken", strokeWidth=2, color=CHOSEN),
        layer("line", encoding, data="lines", strokeWidth=2),
        layer("point", {**encoding, "shape": shape}, data="lines", filled=True, size=34),
    ]
    return Figure(
        layered(layers, height),
        {
            "lines": [fields_of(line) for line in view.lines],
            "taken": [{"strength": view.chosen}],
        },
    )


ENDS = ["before", "after"]
COLOURS = {"better": BETTER, "worse": WORSE, "neutral": GROUP}
SHAPES = {"better": "triangle-up", "worse": "triangle-down", "neutral": "circle"}
"""The form tells what the colour tells."""


def before_after(slope: Slope, height: int = 220) -> Figure:
    """A line from before to after, the interval of the change at its end, and dashed levels."""
    colour = COLOURS[slope.tone]
    low, high = _span(slope)
    y = channel("value:Q", title=None, scale={"domain": [low, high], "zero": False}, axis=None)
    bare = {"labelAngle": 0, "domain": False, "ticks": False}
    x = channel(
        "when:O",
        title=None,
        sort=ENDS,
        scale={"domain": ENDS, "type": "point", "padding": 0.62},
        axis={**bare, "labelPadding": 6, "labelFontSize": 12.5},
    )
    at = {"x": x, "y": y}
    text = channel("label:N")
    tooltip = [channel("when:N", title="lists"), channel("label:N", title=slope.metric)]
    shown = {**at, "tooltip": tooltip}
    form: dict[str, Any] = {"filled": True, "size": 110, "opacity": 1, "shape": SHAPES[slope.tone]}
    dashed: dict[str, Any] = {"strokeDash": [6, 4], "strokeWidth": 1.4, "color": GROUP}
    layers = [
        # between the ends, so that no line runs through the numbers beside them
        layer("line", {**at, "detail": text}, data="levels", **dashed),
        layer("line", shown, data="ends", strokeWidth=3.2, color=colour),
        layer("point", shown, data="ends", color=colour, **form),
    ]
    for when, is_above in product(ENDS, (True, False)):
        layers.append(
            layer(
                "text",
                {**at, "text": text},
                data="levels",
                only=f"datum.at === '{when}' && datum.when === datum.at "
                f"&& datum.above === {int(is_above)}",
                align="left" if when == "before" else "right",
                dx=10 if when == "before" else -10,
                dy=-8 if is_above else 9,
                baseline="middle",
                fontSize=12,
            )
        )
    for when, side in (("before", -1), ("after", 1)):
        layers.append(
            layer(
                "text",
                {**shown, "text": text},
                data="ends",
                only=f"datum.when === '{when}'",
                align="right" if side < 0 else "left",
                dx=11 * side,
                baseline="middle",
                fontSize=14,
                fontWeight="bold",
            )
        )
    data: dict[str, list[dict[str, Any]]] = {
        "ends": [
            {"when": when, "value": value, "label": number(value)}
            for when, value in zip(ENDS, (slope.before, slope.after), strict=True)
        ],
        "levels": [
            {"when": when, "value": level.value, "label": level.label, **_words_at(slope, at)}
            for at, level in enumerate((slope.others, slope.floor))
            if level is not None
            for when in ENDS
        ],
    }
    if slope.low is not None and slope.high is not None:
        data["interval"] = [{"when": ENDS[1], "value": slope.low, "to": slope.high}]
        span = {**at, "y2": {"field": "to"}}
        layers.append(layer("rule", span, data="interval", strokeWidth=1.6, color=colour))
        cap: dict[str, Any] = {"orient": "horizontal", "width": 12, "thickness": 1.6}
        for end in (y, channel("to:Q")):
            encoding = {"x": x, "y": end}
            layers.append(layer("tick", encoding, data="interval", color=colour, **cap))
    return Figure(layered(layers, height), data)


def _span(slope: Slope) -> tuple[float, float]:
    """All that is drawn, with room for the words of the levels."""
    levels = (level.value for level in (slope.others, slope.floor) if level)
    ends = (end for end in (slope.low, slope.high) if end is not None)
    values = (slope.before, slope.after, *levels, *ends)
    low, high = min(values), max(values)
    air = 0.14 * (high - low) or 0.05 * (abs(high) or 1.0)
    return low - air, high + air


def _words_at(slope: Slope, at: int) -> dict[str, Any]:
    """Where the words of a level stand: on the side of it, and at the end, that the line is not."""
    levels = (slope.others, slope.floor)
    level, other = levels[at], levels[1 - at]
    assert level is not None
    if other is not None:
        is_above = level.value > other.value or (level.value == other.value and at == 0)
    else:
        is_above = level.value >= (slope.before + slope.after) / 2
    is_rising = slope.after >= slope.before
    return {"above": int(is_above), "at": ENDS[0] if is_above == is_rising else ENDS[1]}
