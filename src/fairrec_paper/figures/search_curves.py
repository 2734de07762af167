"""How much of the exact gap searchers have found, against the users they have scored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fairrec.report.figures.still import still

if TYPE_CHECKING:
    import altair as alt

COLOURS = {
    "adaptive": "#d55e00",
    "dpso": "#0072b2",
    "pso": "#56b4e9",
    "fairas": "#009e73",
    "random": "#8c8c8c",
    "testsgd": "#cc79a7",
    "themis": "#b8860b",
    "exact": "#222222",
}
"""Apart for colour-blind readers too (Okabe and Ito); any other searcher takes one of OTHERS."""
OTHERS = ("#7a3e9d", "#5c4033", "#3f7d20", "#a50f3f")
DASHES = {"pso": [5, 2], "random": [2, 2], "themis": [7, 2, 2, 2]}
HIGHLIGHTED = "adaptive"
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)


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
    rows = curve.with_columns(
        low=(pl.col("mean") - pl.col("sd").fill_null(0.0)).clip(0.0, 1.0),
        high=(pl.col("mean") + pl.col("sd").fill_null(0.0)).clip(0.0, 1.0),
    )
    lowest = float(curve["budget"].cast(pl.Float64).min() or TICKS[0])  # type: ignore[arg-type]
    users = alt.X(
        "budget:Q",
        title="users scored, as a share of the users of eligible groups (log scale)",
        scale=alt.Scale(type="log", domain=[lowest, 1.0], nice=False),
        axis=alt.Axis(values=[tick for tick in TICKS if tick >= lowest], format="~%"),
    )
    colours = alt.Scale(domain=names, range=_colours(names))
    legend = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=3, symbolSize=500)
    base = alt.Chart(rows)
    bands = base.mark_area(opacity=0.13).encode(
        x=users,
        y=alt.Y("low:Q"),
        y2="high:Q",
        fill=alt.Fill("searcher:N", scale=colours, legend=None),
    )
    lines = base.mark_line(interpolate="monotone").encode(
        x=users,
        y=alt.Y(
            "mean:Q",
            title="gap found, as a share of the exact gap",
            scale=alt.Scale(domain=[0.0, 1.0]),
            axis=alt.Axis(tickCount=6),
        ),
        color=alt.Color("searcher:N", scale=colours, legend=legend),
        strokeDash=alt.StrokeDash(
            "searcher:N",
            scale=alt.Scale(domain=names, range=[DASHES.get(name, [1, 0]) for name in names]),
            legend=legend,
        ),
        strokeWidth=alt.condition(
            f"datum.searcher == '{HIGHLIGHTED}'", alt.value(3.5), alt.value(2)
        ),
        tooltip=[
            alt.Tooltip("searcher:N"),
            alt.Tooltip("budget:Q", format=".1%", title="users scored"),
            alt.Tooltip("mean:Q", format=".3f", title="share of the exact gap"),
            alt.Tooltip("sd:Q", format=".3f", title="sd over seeds"),
        ],
    )
    chart = (
        alt.layer(bands, lines)
        # else the bands, which want no legend, would take away that of the lines
        .resolve_legend(fill="independent")
        .properties(width=560, height=330)
    )
    return still(chart, title, notes)


def write_search_curves(chart: Any, file: Path) -> None:
    """Write a chart as its name says: .svg, .png, or .html that needs no network."""
    if file.suffix == ".html":
        file.write_text(chart.to_html(inline=True), encoding="utf-8")
    else:
        chart.save(file, scale_factor=2 if file.suffix == ".png" else 1)


def _from_best(curve: pl.DataFrame) -> list[str]:
    """The searchers, from the one whose line lies highest, so that the legend reads like it."""
    heights = curve.group_by("searcher", maintain_order=True).agg(pl.col("mean").mean())
    return heights.sort("mean", descending=True, maintain_order=True)["searcher"].to_list()


def _colours(names: Sequence[str]) -> list[str]:
    others = [name for name in names if name not in COLOURS]
    spare = {name: OTHERS[i % len(OTHERS)] for i, name in enumerate(others)}
    return [COLOURS.get(name) or spare[name] for name in names]
