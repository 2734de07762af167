"""Two attributes against each other: which of their combinations are served worse or better."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING

from fairrec.report.figures.figure import Figure
from fairrec.report.figures.palette import CHOSEN, DIVERGING, NOBODY
from fairrec.report.page.chart_view import PairMap

if TYPE_CHECKING:
    import altair as alt


def pair_heat_map(view: PairMap) -> Figure:
    """The map of one pair and metric; `chosen` is the number of the group to mark."""
    drawing = _drawing(view.row_name, view.column_name, view.rows, view.columns)
    return Figure(drawing, {"cells": [asdict(cell) for cell in view.cells]})


@lru_cache(maxsize=16)
def _drawing(
    row_name: str, column_name: str, rows: tuple[str, ...], columns: tuple[str, ...]
) -> alt.LayerChart:
    """The map without its data: the same for all metrics that know the same groups."""
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
    squares = (
        alt.Chart(cells)
        .mark_rect(cornerRadius=3, aria=False, cursor="pointer")
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "shade:Q",
                scale=alt.Scale(domain=[-1, 0, 1], range=list(DIVERGING), interpolate="rgb"),
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
    layered: alt.LayerChart = (
        alt.layer(squares, marks)
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
