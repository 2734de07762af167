"""How alike the metrics order the groups: a map of correlations."""

from __future__ import annotations

from fairrec.report.figures.figure import Figure, channel, fields_of, layer, layered
from fairrec.report.figures.palette import DIVERGING_NEUTRAL, TEXT_ON_MAP
from fairrec.report.page.chart_view import Correlation

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
    return Figure(spec, {"cells": [fields_of(cell) for cell in view.cells]})
