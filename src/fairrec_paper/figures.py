"""Figures of the paper and of `search-bench`, in Altair, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from fairrec.report.page.vega import (
    CHOSEN,
    DIVERGING_NEUTRAL,
    GROUP,
    SERIES,
    STILL_INK,
    TEXT_ON_MAP,
)
from fairrec.report.page.vega import SERIES as LINES

if TYPE_CHECKING:
    import altair as alt


def initial_positions(
    users: pl.DataFrame, particles: pl.DataFrame, names: tuple[str, str], size: int = 260
) -> alt.FacetChart:
    """Two maps side by side: the users of two attributes as shades, the particles as circles.

    Parameters
    ----------
    users : `first, second, users`, one row for each two values, in the order of the values
    particles : `way, first, second, particles`; a map for each way, in their order
    names : the two attributes
    """
    import altair as alt

    ways = particles["way"].unique(maintain_order=True)
    rows = users.join(ways.to_frame(), how="cross").join(
        particles, on=["way", "first", "second"], how="left", coalesce=True, maintain_order="left"
    )
    # values stay in the order of the rows, and labels that would overlap are left out
    base = alt.Chart(rows).encode(
        x=alt.X(
            "first:N",
            title=names[0],
            sort=None,
            axis=alt.Axis(labelAngle=-45, labelLimit=100, labelOverlap=True),
        ),
        y=alt.Y(
            "second:N", title=names[1], sort=None, axis=alt.Axis(labelLimit=100, labelOverlap=True)
        ),
    )
    shades = base.mark_rect().encode(
        color=alt.Color("users:Q", title="users", scale=alt.Scale(scheme="greys"))
    )
    dots = base.mark_circle(opacity=0.9, stroke="white").encode(
        size=alt.Size("particles:Q", title="particles", scale=alt.Scale(range=[0, 320])),
        fill=alt.Fill(
            "way:N", scale=alt.Scale(domain=ways.to_list(), range=list(SERIES[1:])), legend=None
        ),
    )
    chart: alt.FacetChart = (
        alt.layer(shades, dots)
        .properties(width=size, height=size)
        .facet(column=alt.Column("way:N", title=None, sort=ways.to_list()))
    )
    return chart


CELL_WIDTH, CELL_HEIGHT = 66, 44


def correlation_map(rows: pl.DataFrame) -> alt.TopLevelMixin:
    """Every two metrics, with their correlation in each square.

    Parameters
    ----------
    rows : `row, column, correlation`, null where there is none
    """
    import altair as alt

    metrics = rows["row"].unique(maintain_order=True).to_list()
    rows = rows.with_columns(
        text=pl.col("correlation").map_elements("{:.2f}".format, pl.String).fill_null("-")
    )
    base = alt.Chart(rows).encode(
        x=alt.X("column:N", title=None, sort=metrics, axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("row:N", title=None, sort=metrics),
    )
    scale = alt.Scale(domain=[-1, 0, 1], range=[*DIVERGING_NEUTRAL], interpolate="rgb")
    squares = base.mark_rect().encode(alt.Color("correlation:Q", scale=scale, legend=None))
    numbers = base.mark_text(color=TEXT_ON_MAP).encode(text="text:N")
    # the picture grows to what its title needs; a fixed width would cut it off
    return alt.layer(squares, numbers).properties(
        width=CELL_WIDTH * len(metrics), height=CELL_HEIGHT * len(metrics), autosize="pad"
    )


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
            part = rows.filter(parameter=parameter).with_columns(**_band(column, f"{column}_sd"))
            x = alt.X("value:Q", title=parameter, scale=alt.Scale(type="log", nice=False))
            y = alt.Y(f"{column}:Q", title=name, axis=alt.Axis(format=form))
            base = alt.Chart(part).encode(x=x)
            shade = (
                alt.Chart(pl.DataFrame({"value": [ends[0]], "to": [ends[1]]}))
                .mark_rect(color=CHOSEN, opacity=0.16)
                .encode(x=x, x2="to:Q")
            )
            band = base.mark_area(color=colour, opacity=0.18).encode(y=alt.Y("low:Q"), y2="high:Q")
            line = base.mark_line(color=colour, point={"color": colour}).encode(y=y)
            across.append(alt.layer(shade, band, line).properties(width=280, height=150))
        panels.append(alt.hconcat(*across))
    return still(alt.vconcat(*panels), title)


def _band(mean: str, sd: str, most: float | None = None) -> dict[str, pl.Expr]:
    """One standard deviation on either side, `low` and `high`."""
    half = pl.col(sd).fill_null(0.0)
    return {
        "low": (pl.col(mean) - half).clip(0.0, most),
        "high": (pl.col(mean) + half).clip(0.0, most),
    }


IN_A_ROW = 3


def side_by_side(times: pl.DataFrame, title: str, unit: str, size: int = 210) -> alt.TopLevelMixin:
    """A map of each method, all in the same colours: blue for little and red for much.

    Parameters
    ----------
    times : `method, users, groups, seconds`
    unit : what `seconds` holds, in words
    """
    import altair as alt

    methods = times["method"].unique(maintain_order=True).to_list()
    scale = alt.Scale(type="log", scheme="redyellowblue", reverse=True)
    chart = (
        # a logarithm needs more than nothing
        alt.Chart(times.with_columns(pl.col("seconds").clip(1e-9)))
        .mark_rect()
        .encode(
            x=alt.X("groups:O", title="groups", axis=alt.Axis(format="~s", labelAngle=0)),
            y=alt.Y("users:O", title="users", sort="descending", axis=alt.Axis(format="~s")),
            color=alt.Color("seconds:Q", title=unit, scale=scale),
        )
        .properties(width=size, height=size)
        .facet(alt.Facet("method:N", title=None, sort=methods), columns=IN_A_ROW)
    )
    return still(chart, title)


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
        color=alt.Color("series:N", title=None, scale=alt.Scale(domain=series, range=colours))
    )
    numbers = base.mark_text(align="left", dx=4).encode(
        x=alt.X("at:Q"), text=alt.Text("value:Q", format="+.1%")
    )
    return still(alt.layer(bars, numbers).properties(width=420, height=alt.Step(24)), title)


COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#b8860b", "#8c8c8c", "#222222")
"""From the best searcher on; apart for colour-blind readers too (Okabe and Ito)."""


def search_curves(curve: pl.DataFrame, title: str, notes: Sequence[str] = ()) -> alt.TopLevelMixin:
    """Mean accuracy against the share of users scored, one line a searcher.

    A band is one standard deviation over seeds on either side.

    Parameters
    ----------
    curve : `searcher, budget, mean, sd`; budgets are shares of users
    notes : lines below the title
    """
    import altair as alt

    names = _from_best(curve)
    rows = curve.with_columns(**_band("mean", "sd", 1.0))
    users = alt.X(
        "budget:Q",
        title="users scored, as a share of the users of eligible groups (log scale)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=curve["budget"].unique().to_list(), format="~%"),
    )
    colours = alt.Scale(domain=names, range=list(COLOURS))
    legend = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=3, symbolSize=500)
    base = alt.Chart(rows)
    bands = base.mark_area(opacity=0.13).encode(
        x=users,
        y=alt.Y("low:Q"),
        y2="high:Q",
        fill=alt.Fill("searcher:N", scale=colours, legend=None),
    )
    lines = base.mark_line(strokeWidth=2.5, point=True).encode(
        x=users,
        y=alt.Y(
            "mean:Q",
            title="gap found, as a share of the exact gap",
            scale=alt.Scale(domain=[0.0, 1.0]),
            axis=alt.Axis(tickCount=6),
        ),
        color=alt.Color("searcher:N", scale=colours, legend=legend),
    )
    chart = (
        alt.layer(bands, lines)
        # else the bands, which want no legend, would take away that of the lines
        .resolve_legend(fill="independent")
        .properties(width=560, height=330)
    )
    return still(chart, title, notes)


def _from_best(curve: pl.DataFrame) -> list[str]:
    """The searchers, from the one whose line lies highest, so that the legend reads like it."""
    heights = curve.group_by("searcher", maintain_order=True).agg(pl.col("mean").mean())
    return heights.sort("mean", descending=True, maintain_order=True)["searcher"].to_list()


# wide ones first: text is measured here, and cut off where a wider font is taken to show it
FONT = "Verdana, 'DejaVu Sans', Helvetica, Arial, 'Liberation Sans', sans-serif"


def still(chart: Any, title: str, notes: Sequence[str] = ()) -> alt.TopLevelMixin:
    """A chart with its title and the look of all still pictures."""
    import altair as alt

    heading = alt.TitleParams(title, subtitle=list(notes), anchor="start", offset=12)
    # every kind of chart has these methods, but no common type says so
    styled: alt.TopLevelMixin = (
        chart.properties(title=heading)
        .configure(font=FONT, background="white", padding=12)
        .configure_title(fontSize=16, subtitleFontSize=12, subtitleColor="#555555", color=STILL_INK)
        .configure_axis(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e6e6e6"
        )
        .configure_legend(labelFontSize=13)
        .configure_header(labelFontSize=13, titleFontSize=13)
        .configure_view(stroke=None)
    )
    return styled


def to_svg(chart: alt.TopLevelMixin) -> str:
    """The chart as SVG; its specification is checked on the way."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return drawn
