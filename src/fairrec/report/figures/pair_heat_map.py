"""Two attributes against each other: which of their combinations are served worse or better."""

from __future__ import annotations

from typing import Any

from fairrec.report.figures.figure import Figure, channel, fields_of, layer, layered, where
from fairrec.report.figures.palette import (
    CHOSEN,
    DIVERGING,
    DIVERGING_NEUTRAL,
    INK_STYLE,
    NOBODY,
    TEXT_ON_MAP,
)
from fairrec.report.page.chart_view import PairMap

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
        round(_cell(len(view.rows)) * len(view.rows)),
        data="cells",
        params=[{"name": "chosen", "value": NOBODY}],
        autosize={"type": "fit-x", "contains": "padding"},
        config={"scale": {"bandPaddingInner": 0.06}},
    )
    return Figure(spec, {"cells": [fields_of(cell) for cell in view.cells]})


def _cell(n_rows: int) -> float:
    """The height of a cell: more where there are few."""
    return min(44.0, max(22.0, 300 / n_rows))
