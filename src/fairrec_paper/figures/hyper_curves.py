"""Accuracy and time of a search over one hyper-parameter at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from fairrec.report.figures.palette import CHOSEN, SERIES
from fairrec.report.figures.still import still

if TYPE_CHECKING:
    import altair as alt

PANELS = (
    ("accuracy", "share of the exact gap", SERIES[1], ".0%"),
    ("seconds", "seconds", SERIES[2], "~g"),
)


def hyper_curves(
    rows: pl.DataFrame, title: str, advice: Mapping[str, tuple[float, float]]
) -> alt.TopLevelMixin:
    """A column of panels for each parameter: accuracy above, time below, bands of one sd.

    Parameters
    ----------
    rows : `parameter, value, accuracy, accuracy_sd, seconds, seconds_sd`
    advice : the range of each parameter that is suggested, drawn as a shade
    """
    import altair as alt

    panels = []
    for column, name, colour, form in PANELS:
        across = []
        for parameter, ends in advice.items():
            part = rows.filter(pl.col("parameter") == parameter).with_columns(
                low=(pl.col(column) - pl.col(f"{column}_sd").fill_null(0.0)).clip(0.0),
                high=(pl.col(column) + pl.col(f"{column}_sd").fill_null(0.0)),
            )
            x = alt.X("value:Q", title=parameter, scale=alt.Scale(type="log", nice=False))
            y = alt.Y(f"{column}:Q", title=name, axis=alt.Axis(format=form))
            base = alt.Chart(part).encode(x=x)
            shade = (
                alt.Chart(pl.DataFrame({"value": [ends[0]], "to": [ends[1]]}))
                .mark_rect(color=CHOSEN, opacity=0.16)
                .encode(x=x, x2="to:Q")
            )
            band = base.mark_area(color=colour, opacity=0.18).encode(y=alt.Y("low:Q"), y2="high:Q")
            line = base.mark_line(color=colour, point={"color": colour}).encode(
                y=y,
                tooltip=[
                    alt.Tooltip("value:Q", title=parameter),
                    alt.Tooltip(f"{column}:Q", title=name),
                ],
            )
            across.append(alt.layer(shade, band, line).properties(width=280, height=150))
        panels.append(alt.hconcat(*across))
    return still(alt.vconcat(*panels), title)
