"""How alike the metrics order the groups: a map of correlations."""

from __future__ import annotations

from fairrec.report.figures.figure import Figure, fields_of
from fairrec.report.figures.palette import DIVERGING_NEUTRAL, TEXT_ON_MAP
from fairrec.report.page.chart_view import Correlation

CELL = 44


def correlation_map(view: Correlation) -> Figure:
    """Every two metrics, the number in each square."""
    import altair as alt

    order = list(view.metrics)
    base = alt.Chart(alt.NamedData("cells")).encode(
        x=alt.X(
            "column:N",
            title=None,
            sort=order,
            axis=alt.Axis(labelAngle=-45, labelLimit=110, domain=False, ticks=False, grid=False),
        ),
        y=alt.Y(
            "row:N",
            title=None,
            sort=order,
            axis=alt.Axis(labelLimit=110, domain=False, ticks=False, grid=False),
        ),
    )
    squares = base.mark_rect(cornerRadius=3, aria=False).encode(
        color=alt.Color(
            "correlation:Q",
            scale=alt.Scale(domain=[-1, 0, 1], range=list(DIVERGING_NEUTRAL), interpolate="rgb"),
            legend=None,
        ),
        tooltip=[
            alt.Tooltip("row:N", title="metric"),
            alt.Tooltip("column:N", title="against"),
            alt.Tooltip("text:N", title="correlation"),
        ],
    )
    # the squares are light or mid-toned on any ground, so the ink on them stays dark
    numbers = base.mark_text(fontSize=12, color=TEXT_ON_MAP, aria=False, tooltip=None).encode(
        text="text:N"
    )
    layered = (
        alt.layer(squares, numbers)
        .properties(
            width="container",
            height=CELL * len(order),
            autosize={"type": "fit-x", "contains": "padding"},
        )
        .configure_scale(bandPaddingInner=0.06)
    )
    return Figure(layered, {"cells": [fields_of(cell) for cell in view.cells]})
