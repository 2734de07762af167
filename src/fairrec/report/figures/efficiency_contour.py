"""Time over the number of users and of groups, as filled contours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError
from fairrec.report.figures.still import still

if TYPE_CHECKING:
    import altair as alt

STEPS = 60
FEWER_STEPS = 28
"""Where several are side by side, so that the file stays small."""


def side_by_side(times: pl.DataFrame, title: str, unit: str, size: int = 210) -> alt.TopLevelMixin:
    """A contour for each method.

    Parameters
    ----------
    times : `method, users, groups, seconds`, a full grid for each method
    unit : what `seconds` holds, in words
    """
    import altair as alt

    charts = [
        efficiency_contour(
            part.drop("method"), str(method[0]), size=size, unit=unit, steps=FEWER_STEPS
        )
        for method, part in times.group_by("method", maintain_order=True)
    ]
    beside = alt.hconcat(*charts).resolve_scale(color="independent")
    return still(beside, title)


def efficiency_contour(
    times: pl.DataFrame,
    title: str,
    levels: int = 8,
    size: int = 340,
    unit: str = "seconds",
    steps: int = STEPS,
) -> alt.LayerChart | alt.FacetChart:
    """Bands of equal time, between what was measured by interpolation; dots are measured.

    Parameters
    ----------
    times : `users, groups, seconds`, one row for each pair of a full grid
    levels : number of bands
    unit : what `seconds` holds, in words
    steps : rectangles along each axis
    """
    import altair as alt

    fine = _fine_grid(times, steps)
    lowest, highest = float(fine["seconds"].min()), float(fine["seconds"].max())  # type: ignore[arg-type]
    edges = np.geomspace(lowest, highest, levels + 1)[1:-1]
    by_level = alt.Color(
        "seconds:Q",
        title=unit,
        legend=alt.Legend(type="symbol", symbolType="square"),
        scale=alt.Scale(
            type="threshold", domain=[float(f"{edge:.2g}") for edge in edges], scheme="viridis"
        ),
    )
    log, axis = alt.Scale(type="log", nice=False), alt.Axis(labelOverlap=True, format="~s")
    bands = (
        alt.Chart(fine)
        .mark_rect(strokeWidth=0, aria=False)
        .encode(
            x=alt.X("users:Q", title="users", scale=log, axis=axis),
            x2="users_to:Q",
            y=alt.Y("groups:Q", title="groups", scale=log, axis=axis),
            y2="groups_to:Q",
            color=by_level,
        )
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


def _fine_grid(times: pl.DataFrame, steps: int) -> pl.DataFrame:
    """Small rectangles with the time in their middle, interpolated on log scales."""
    users, groups = (np.unique(times[name].cast(pl.Float64)) for name in ("users", "groups"))
    if min(len(users), len(groups)) < 2 or len(users) * len(groups) != times.height:
        raise InputError("A contour needs the time for every pair of at least 2 x 2 sizes.")
    known = times.sort("users", "groups")["seconds"].to_numpy().reshape(len(users), len(groups))
    x, y = (np.geomspace(sizes[0], sizes[-1], steps + 1) for sizes in (users, groups))
    at_x, at_y = np.sqrt(x[1:] * x[:-1]), np.sqrt(y[1:] * y[:-1])
    logs = np.log(np.maximum(known, 1e-9))
    along_x = np.array([np.interp(np.log(at_x), np.log(users), column) for column in logs.T])
    both = np.array([np.interp(np.log(at_y), np.log(groups), row) for row in along_x.T])
    left, low = np.meshgrid(x[:-1], y[:-1], indexing="ij")
    # a little over the next one, or the ground would shine through between them
    right, high = np.meshgrid(_beyond(x), _beyond(y), indexing="ij")
    return pl.DataFrame(
        {
            "users": left.ravel(),
            "users_to": right.ravel(),
            "groups": low.ravel(),
            "groups_to": high.ravel(),
            "seconds": np.exp(both).ravel(),
        }
    )


def _beyond(edges: FloatArray) -> FloatArray:
    """The far edge of each step, a third of a step further but for the last."""
    far = edges[1:] * (edges[1:] / edges[:-1]) ** (1 / 3)
    return np.asarray(np.minimum(far, edges[-1]))
