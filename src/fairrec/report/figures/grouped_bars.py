"""Bars beside each other: what was measured and what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairrec.report.figures.palette import GROUP
from fairrec.report.figures.palette import SERIES as LINES
from fairrec.report.figures.still import still

if TYPE_CHECKING:
    import altair as alt

SERIES = ("here", "published")


def grouped_bars(rows: pl.DataFrame, title: str, axis: str) -> alt.TopLevelMixin:
    """A group of bars for each data set, as shares.

    Parameters
    ----------
    rows : `data, series, value`; the series are `SERIES`; a null value has no bar
    axis : the title of the axis
    """
    import altair as alt

    # numbers stand right of the bar, also of one that goes to the left
    known = rows.drop_nulls("value").with_columns(at=pl.col("value").clip(lower_bound=0.0))
    base = alt.Chart(known).encode(
        y=alt.Y("data:N", title=None, sort=None, axis=alt.Axis(labelLimit=420)),
        yOffset=alt.YOffset("series:N", sort=list(SERIES)),
        x=alt.X("value:Q", title=axis, axis=alt.Axis(format="+~%")),
    )
    bars = base.mark_bar(height={"band": 0.9}).encode(
        color=alt.Color(
            "series:N",
            title=None,
            scale=alt.Scale(domain=list(SERIES), range=[LINES[1], GROUP]),
        )
    )
    numbers = base.mark_text(align="left", dx=4).encode(
        x=alt.X("at:Q"), text=alt.Text("value:Q", format="+.1%")
    )
    return still(alt.layer(bars, numbers).properties(width=420, height=alt.Step(24)), title)
