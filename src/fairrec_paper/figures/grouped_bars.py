"""Bars beside each other: what was measured, in one series or several, and what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairrec.report.figures.palette import CHOSEN, GROUP
from fairrec.report.figures.palette import SERIES as LINES
from fairrec.report.figures.still import still

if TYPE_CHECKING:
    import altair as alt

PUBLISHED = "published"


def grouped_bars(rows: pl.DataFrame, title: str, axis: str) -> alt.TopLevelMixin:
    """A group of bars for each data set, as shares.

    Parameters
    ----------
    rows : `data, series, value`; a null value has no bar, and `PUBLISHED` is the grey series
    axis : the title of the axis
    """
    import altair as alt

    series = rows["series"].unique(maintain_order=True).to_list()
    measured = iter((*LINES[1:], CHOSEN))
    colours = [GROUP if name == PUBLISHED else next(measured) for name in series]
    # numbers stand right of the bar, also of one that goes to the left
    known = rows.drop_nulls("value").with_columns(at=pl.col("value").clip(lower_bound=0.0))
    base = alt.Chart(known).encode(
        y=alt.Y("data:N", title=None, sort=None, axis=alt.Axis(labelLimit=420)),
        yOffset=alt.YOffset("series:N", sort=series),
        x=alt.X("value:Q", title=axis, axis=alt.Axis(format="+~%")),
    )
    bars = base.mark_bar(height={"band": 0.9}).encode(
        color=alt.Color(
            "series:N",
            title=None,
            scale=alt.Scale(domain=series, range=colours),
        )
    )
    numbers = base.mark_text(align="left", dx=4).encode(
        x=alt.X("at:Q"), text=alt.Text("value:Q", format="+.1%")
    )
    return still(alt.layer(bars, numbers).properties(width=420, height=alt.Step(24)), title)
