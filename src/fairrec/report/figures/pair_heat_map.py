"""Two attributes against each other: which of their combinations are served worse or better."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fairrec.report.figures.figure import Figure, fields_of
from fairrec.report.figures.palette import (
    CHOSEN,
    DIVERGING,
    DIVERGING_NEUTRAL,
    INK_STYLE,
    NOBODY,
    TEXT_ON_MAP,
)
from fairrec.report.page.chart_view import PairMap

if TYPE_CHECKING:
    import altair as alt

FADED = 0.3
"""How much of its colour a square keeps that chance alone explains."""
PER_CHARACTER = 6.2
"""Pixels that a character of a number needs."""


def pair_heat_map(view: PairMap) -> Figure:
    """The map of one pair and metric; `chosen` is the number of the group to mark."""
    drawing = _drawing(
        view.row_name,
        view.column_name,
        view.rows,
        view.columns,
        view.ramp.is_neutral,
        max((len(cell.text) for cell in view.cells), default=0),
    )
    return Figure(drawing, {"cells": [fields_of(cell) for cell in view.cells]})


@lru_cache(maxsize=16)
def _drawing(
    row_name: str,
    column_name: str,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    is_neutral: bool,
    longest: int,
) -> alt.LayerChart:
    """The map without its data: the same for metrics that know the same groups.

    Numbers stand in all squares or in none: the longest must fit.
    """
    import altair as alt

    cells = alt.NamedData("cells")
    x = alt.X(
        "column:N",
        title=column_name,
        sort=list(columns),
        axis=alt.Axis(labelAngle=-45, labelLimit=120, domain=False, ticks=False, grid=False),
    )
    y = alt.Y(
        "row:N",
        title=row_name,
        sort=list(rows),
        axis=alt.Axis(labelLimit=120, domain=False, ticks=False, grid=False),
    )
    base = alt.Chart(cells).encode(x=x, y=y)
    colours = DIVERGING_NEUTRAL if is_neutral else DIVERGING
    squares = base.mark_rect(cornerRadius=3, aria=False, cursor="pointer").encode(
        color=alt.Color(
            "shade:Q",
            scale=alt.Scale(domain=[-1, 0, 1], range=list(colours), interpolate="rgb"),
            legend=None,
        ),
        fillOpacity=alt.condition("datum.is_faded", alt.value(FADED), alt.value(1)),
        stroke=alt.value(CHOSEN),
        # a filter by the chosen group would be shorter, but Vega fails where none is left
        strokeWidth=alt.condition("datum.group === chosen", alt.value(4.5), alt.value(0)),
        tooltip=[
            alt.Tooltip("label:N", title="group"),
            alt.Tooltip("size:Q", title="users", format=","),
            alt.Tooltip("value:Q", title="value", format=".3~r"),
            alt.Tooltip("difference:Q", title="difference to others", format="+.3~r"),
            alt.Tooltip("p_adjusted:Q", title="p adjusted", format=".3~f"),
        ],
    )
    outlines = base.transform_filter("datum.is_finding").mark_rect(
        filled=False, cornerRadius=3, aria=False, tooltip=None, style=INK_STYLE, strokeWidth=2
    )
    # a faded square has the ground of the page, a full one is light on any ground
    on_colour: dict[str, Any] = {"color": TEXT_ON_MAP, "fontWeight": 600}
    fits = f"bandwidth('x') >= {PER_CHARACTER * longest + 2:.0f}"
    numbers = [
        base.transform_filter(which)
        .mark_text(fontSize=10.5, aria=False, tooltip=None, **look)
        .encode(text=alt.condition(fits, "text:N", alt.value("")))
        for which, look in (("datum.is_faded", {}), ("!datum.is_faded", on_colour))
    ]
    layered: alt.LayerChart = (
        alt.layer(squares, outlines, *numbers)
        .add_params(alt.param(name="chosen", value=NOBODY))
        .properties(
            width="container",
            height=round(_cell(len(rows)) * len(rows)),
            autosize={"type": "fit-x", "contains": "padding"},
        )
        .configure_scale(bandPaddingInner=0.06)
    )
    return layered


def _cell(n_rows: int) -> float:
    """The height of a cell: more where there are few."""
    return min(44.0, max(22.0, 300 / n_rows))
