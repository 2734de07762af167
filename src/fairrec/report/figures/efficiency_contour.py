"""Time of an audit over the number of users and of groups, as a filled contour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import altair as alt


def efficiency_contour(
    times: pl.DataFrame, title: str, levels: int = 8, size: int = 340
) -> alt.LayerChart | alt.FacetChart:
    """Bands of equal time; each measured point is a dot with its seconds.

    Parameters
    ----------
    times : `users, groups, seconds`, one row for each measured pair of a full grid
    levels : number of bands
    """
    import altair as alt

    seconds = times["seconds"]
    by_level = alt.Color(
        "seconds:Q",
        title="seconds",
        scale=alt.Scale(
            type="quantize",
            scheme="viridis",
            domain=[float(seconds.min() or 0), float(seconds.max() or 1)],  # type: ignore[arg-type]
        ),
        bin=alt.Bin(maxbins=levels),
    )
    edges = _with_edges(_with_edges(times, "users"), "groups")
    x = alt.X("users_low:Q", title="users", scale=alt.Scale(type="log", nice=False))
    y = alt.Y("groups_low:Q", title="groups", scale=alt.Scale(type="log", nice=False))
    bands = (
        alt.Chart(edges)
        .mark_rect()
        .encode(x=x, x2="users_high", y=y, y2="groups_high", color=by_level)
    )
    points = (
        alt.Chart(times)
        .mark_point(filled=True, color="white", stroke="black", strokeWidth=0.6, size=28)
        .encode(
            x="users:Q",
            y="groups:Q",
            tooltip=[
                alt.Tooltip("users:Q", format=","),
                alt.Tooltip("groups:Q", format=","),
                alt.Tooltip("seconds:Q", format=".3~g"),
            ],
        )
    )
    return alt.layer(bands, points).properties(width=size, height=size, title=title)


def _with_edges(times: pl.DataFrame, name: str) -> pl.DataFrame:
    """Beside each coordinate the middles to its neighbours, on a log scale."""
    known = times[name].unique().sort().cast(pl.Float64)
    logs = known.log()
    steps = logs.diff().drop_nulls() / 2
    step = float(steps.mean() or 0.1) if len(steps) else 0.1  # type: ignore[arg-type]
    low = logs - pl.concat([pl.Series([step]), steps.rename("")])
    high = logs + pl.concat([steps.rename(""), pl.Series([step])])
    edges = pl.DataFrame({name: known, f"{name}_low": low.exp(), f"{name}_high": high.exp()})
    return times.with_columns(pl.col(name).cast(pl.Float64)).join(edges, on=name)
