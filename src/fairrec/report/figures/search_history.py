"""The gap a search knew of, against the users it had scored."""

from __future__ import annotations

from fairrec.report.figures.figure import Figure
from fairrec.report.figures.palette import SERIES
from fairrec.report.page.chart_view import SearchHistory


def search_history(view: SearchHistory, height: int = 200) -> Figure:
    """Steps: the gap stays until a larger one is found."""
    import altair as alt

    base = alt.Chart(alt.NamedData("steps")).encode(
        x=alt.X(
            "users:Q",
            title="users scored",
            scale=alt.Scale(zero=True),
            axis=alt.Axis(format="~s", tickCount=5, grid=False),
        ),
        y=alt.Y("gap:Q", title=f"gap in {view.metric}", axis=alt.Axis(tickCount=5)),
        tooltip=[
            alt.Tooltip("users:Q", title="users scored", format=","),
            alt.Tooltip("gap:Q", title="gap", format=".3~r"),
        ],
    )
    line = base.mark_line(interpolate="step-after", strokeWidth=2, color=SERIES[1], aria=False)
    dots = base.mark_point(filled=True, size=36, color=SERIES[1], aria=False)
    layered = alt.layer(line, dots).properties(
        width="container", height=height, autosize={"type": "fit", "contains": "padding"}
    )
    return Figure(layered, {"steps": [step.model_dump() for step in view.steps]})
