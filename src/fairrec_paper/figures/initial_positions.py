"""Where a swarm begins: particles drawn uniformly against particles drawn as the users are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairrec.report.figures.palette import SERIES

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
        tooltip=["first:N", "second:N", "users:Q", "particles:Q"],
    )
    chart: alt.FacetChart = (
        alt.layer(shades, dots)
        .properties(width=size, height=size)
        .facet(column=alt.Column("way:N", title=None, sort=ways.to_list()))
    )
    return chart
