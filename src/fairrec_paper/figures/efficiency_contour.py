"""Time over the number of groups and of users, as filled contours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError
from fairrec.report.figures.still import still

if TYPE_CHECKING:
    import altair as alt

STEPS = 28
LEVELS = 9
IN_A_ROW = 3
TEN_THOUSAND = 10_000


def side_by_side(times: pl.DataFrame, title: str, unit: str, size: int = 210) -> alt.TopLevelMixin:
    """A contour for each method, all in the same colours.

    Parameters
    ----------
    times : `method, users, groups, seconds`, a full grid for each method
    unit : what `seconds` holds, in words
    """
    import altair as alt

    edges = level_edges(times["seconds"].to_numpy())
    charts = [
        efficiency_contour(part.drop("method"), str(method[0]), edges, size, unit)
        for method, part in times.group_by("method", maintain_order=True)
    ]
    return still(alt.concat(*charts, columns=IN_A_ROW).resolve_scale(color="shared"), title)


def level_edges(seconds: FloatArray) -> list[float]:
    """Where one band ends and the next begins, at equal ratios and in two digits."""
    known = np.maximum(seconds, 1e-9)
    edges = np.geomspace(known.min(), known.max(), LEVELS + 1)[1:-1]
    return list(dict.fromkeys(float(f"{edge:.2g}") for edge in edges))


def efficiency_contour(
    times: pl.DataFrame, title: str, edges: Sequence[float], size: int = 340, unit: str = "seconds"
) -> alt.LayerChart | alt.FacetChart:
    """Bands of equal time, between what was measured by interpolation; dots are measured.

    Parameters
    ----------
    times : `users, groups, seconds`, one row for each pair of a full grid
    edges : between bands
    unit : what `seconds` holds, in words
    """
    import altair as alt

    fine = _fine_grid(times)
    by_level = alt.Color(
        "seconds:Q",
        title=unit,
        # blue for little and red for much, as in the paper
        scale=alt.Scale(type="threshold", domain=[*edges], scheme="redyellowblue", reverse=True),
    )
    # from edge to edge of the grid: 0 is no size
    scale = alt.Scale(zero=False, nice=False)
    groups = alt.X("groups:Q", title="groups", scale=scale, axis=alt.Axis(format="~s"))
    users = alt.Y("users:Q", title="users, in ten thousands", scale=scale)
    bands = (
        alt.Chart(fine)
        .mark_rect(strokeWidth=0, aria=False)
        .encode(x=groups, x2="groups_to:Q", y=users, y2="users_to:Q", color=by_level)
    )
    points = (
        alt.Chart(times.with_columns(pl.col("users") / TEN_THOUSAND))
        .mark_point(filled=True, color="white", stroke="black", strokeWidth=0.6, size=28)
        .encode(x="groups:Q", y="users:Q")
    )
    return alt.layer(bands, points).properties(width=size, height=size, title=title)


def _fine_grid(times: pl.DataFrame) -> pl.DataFrame:
    """Small rectangles with the time in their middle, whose logarithm is interpolated."""
    users, groups = (np.unique(times[name].cast(pl.Float64)) for name in ("users", "groups"))
    if min(len(users), len(groups)) < 2 or len(users) * len(groups) != times.height:
        raise InputError("A contour needs the time for every pair of at least 2 x 2 sizes.")
    known = times.sort("users", "groups")["seconds"].to_numpy().reshape(len(users), len(groups))
    x, y = (np.linspace(sizes[0], sizes[-1], STEPS + 1) for sizes in (groups, users))
    at_x, at_y = (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
    logs = np.log(np.maximum(known, 1e-9))
    along_y = np.array([np.interp(at_y, users, column) for column in logs.T])
    both = np.array([np.interp(at_x, groups, row) for row in along_y.T])
    low, left = np.meshgrid(y[:-1], x[:-1], indexing="ij")
    # a little over the next one, or the ground would shine through between them
    high, right = np.meshgrid(_beyond(y), _beyond(x), indexing="ij")
    return pl.DataFrame(
        {
            "users": low.ravel() / TEN_THOUSAND,
            "users_to": high.ravel() / TEN_THOUSAND,
            "groups": left.ravel(),
            "groups_to": right.ravel(),
            "seconds": np.exp(both).ravel(),
        }
    )


def _beyond(edges: FloatArray) -> FloatArray:
    """The far edge of each step, a third of a step further but for the last."""
    far = edges[1:] + (edges[1:] - edges[:-1]) / 3
    return np.asarray(np.minimum(far, edges[-1]))
