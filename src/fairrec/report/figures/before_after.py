"""A metric before and after a re-ranking, beside all others and what was to be kept."""

from __future__ import annotations

from itertools import product
from typing import Any

from fairrec.report.figures.figure import Figure, channel, layer, layered
from fairrec.report.figures.palette import BETTER, GROUP, WORSE
from fairrec.report.mitigation.slopes import Slope
from fairrec.report.words import number

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
