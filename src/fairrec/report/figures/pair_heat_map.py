"""Two attributes against each other: which of their combinations are served worse or better."""

from __future__ import annotations

from dataclasses import asdict

from fairrec.report.figures.figure import Figure
from fairrec.report.figures.palette import CHOSEN, DIVERGING, NOBODY
from fairrec.report.page_view import PairMap

CELL = 26


def pair_heat_map(view: PairMap) -> Figure:
    """The map of one pair and metric; `chosen` is the number of the group to mark."""
    import altair as alt

    cells = alt.NamedData("cells")
    x = alt.X(
        "column:N",
        title=view.column_name,
        sort=list(view.columns),
        axis=alt.Axis(labelAngle=-45, labelLimit=120, domain=False, ticks=False, grid=False),
    )
    y = alt.Y(
        "row:N",
        title=view.row_name,
        sort=list(view.rows),
        axis=alt.Axis(labelLimit=120, domain=False, ticks=False, grid=False),
    )
    squares = (
        alt.Chart(cells)
        .mark_rect(cornerRadius=3, aria=False, cursor="pointer")
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "shade:Q",
                scale=alt.Scale(domain=[-1, 0, 1], range=list(DIVERGING)),
                legend=None,
            ),
            strokeWidth=alt.condition("datum.group === chosen", alt.value(3.5), alt.value(0)),
            stroke=alt.value(CHOSEN),
            tooltip=[
                alt.Tooltip("label:N", title="group"),
                alt.Tooltip("size:Q", title="users", format=","),
                alt.Tooltip("value:Q", title="value", format=".3~r"),
                alt.Tooltip("difference:Q", title="difference to others", format="+.3~r"),
                alt.Tooltip("p_adjusted:Q", title="p adjusted", format=".3~f"),
            ],
        )
    )
    marks = (
        alt.Chart(cells)
        .transform_filter("datum.is_finding")
        .mark_point(
            shape="diamond", filled=True, size=70, color="#222222", aria=False, tooltip=None
        )
        .encode(x=x, y=y)
    )
    layered = (
        alt.layer(squares, marks)
        .add_params(alt.param(name="chosen", value=NOBODY))
        .properties(
            width="container",
            height=CELL * max(2, len(view.rows)),
            autosize={"type": "fit-x", "contains": "padding"},
        )
        .configure_scale(bandPaddingInner=0.06)
    )
    return Figure(layered, {"cells": [asdict(cell) for cell in view.cells]})
