"""What each strength of a re-ranking does to a metric."""

from __future__ import annotations

from fairrec.report.figures.figure import Figure, fields_of
from fairrec.report.figures.palette import CHOSEN, SERIES
from fairrec.report.mitigation.view import TradeOff


def trade_off(view: TradeOff, height: int = 240) -> Figure:
    """Lines over the strength, one for each set of users, and the strength that was taken."""
    import altair as alt

    who = list(dict.fromkeys(line.who for line in view.lines))
    base = alt.Chart(alt.NamedData("lines")).encode(
        x=alt.X(
            "strength:Q",
            title="strength",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(tickCount=5, grid=False),
        ),
        y=alt.Y(
            "value:Q", title=view.metric, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5)
        ),
        color=alt.Color(
            "who:N",
            title=None,
            scale=alt.Scale(domain=who, range=[*SERIES[: len(who)]]),
            legend=alt.Legend(orient="top", direction="vertical", labelLimit=260),
        ),
        tooltip=[
            alt.Tooltip("strength:Q", format=".2~f"),
            alt.Tooltip("value:Q", title=view.metric, format=".4~r"),
            alt.Tooltip("who:N", title="users"),
        ],
    )
    lines = base.mark_line(strokeWidth=2, aria=False)
    # the form tells the lines apart where colours do not
    dots = base.mark_point(filled=True, size=34, aria=False).encode(
        shape=alt.Shape(
            "who:N",
            title=None,
            scale=alt.Scale(domain=who, range=["circle", "square", "diamond"][: len(who)]),
        )
    )
    taken = (
        alt.Chart(alt.NamedData("taken"))
        .mark_rule(strokeWidth=2, color=CHOSEN, aria=False)
        .encode(x="strength:Q", tooltip=alt.Tooltip("strength:Q", title="strength taken"))
    )
    layered = alt.layer(taken, lines, dots).properties(
        width="container", height=height, autosize={"type": "fit", "contains": "padding"}
    )
    return Figure(
        layered,
        {
            "lines": [fields_of(line) for line in view.lines],
            "taken": [{"strength": view.chosen}],
        },
    )
