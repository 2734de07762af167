"""What is ruled out: the largest harm that may still be, by the size of the groups."""

from __future__ import annotations

from statistics import median
from typing import Any

from fairrec.report.figures.figure import Figure, fields_of
from fairrec.report.figures.palette import GROUP, INK_STYLE, WORSE
from fairrec.report.page.chart_view import Certificate

WIDE = 20
"""Times the median from which on the axis is a log scale."""


def certificate_curve(view: Certificate, height: int = 220) -> Figure:
    """Everything above the line is ruled out, at once for all groups that are not shown worse."""
    import altair as alt

    first = view.steps[0].size
    end = max(view.largest, first + 1)
    harms = [step.harm for step in view.steps]
    # what is ruled out for few users may be a thousand times what is for many
    is_log = max(harms) > WIDE * median(harms) > 0
    least = min(filter(None, harms), default=1.0)
    top = 1.12 * max(*harms, view.matters or 0.0) or 1.0
    low = min(least, view.matters or least) / 1.5 if is_log else 0.0
    x = alt.X(
        "size:Q",
        title=f"{view.size_name}, at least (log scale)",
        scale=alt.Scale(type="log", domain=[first, end], nice=False),
        axis=alt.Axis(format="~s", tickCount=6, grid=False),
    )
    y = alt.Y(
        "harm:Q",
        title=view.harm_name,
        scale=alt.Scale(
            type="log" if is_log else "linear", domain=[low, top], nice=False, clamp=True
        ),
        axis=alt.Axis(tickCount=5, grid=not is_log),
    )
    # the last step holds for all larger groups
    steps = [{**fields_of(step), "harm": max(low, step.harm), "low": low} for step in view.steps]
    line = [*steps, {**steps[-1], "size": end}]
    data = {
        "steps": line,
        "matters": [] if view.matters is None else [{"harm": view.matters, "text": "matters"}],
    }
    base = alt.Chart(alt.NamedData("steps")).encode(x=x, y=y)
    look: dict[str, Any] = {"interpolate": "step-after", "aria": False}
    layers = [
        base.mark_area(color=GROUP, opacity=0.2, **look).encode(y2="low:Q"),
        base.mark_line(strokeWidth=2, style=INK_STYLE, **look),
        # wide targets for the pointer
        base.mark_point(filled=True, size=140, opacity=0, aria=False).encode(
            tooltip=[
                alt.Tooltip("size:Q", title="users, at least", format=","),
                alt.Tooltip("harm:Q", title="not ruled out, up to", format=".3~r"),
                alt.Tooltip("n_groups:Q", title="groups", format=","),
            ]
        ),
    ]
    if view.matters is not None:
        rule = alt.Chart(alt.NamedData("matters")).encode(y=y)
        layers += [
            rule.mark_rule(color=WORSE, strokeWidth=2, strokeDash=[6, 4], aria=False),
            rule.mark_text(
                align="right", baseline="bottom", dy=-4, x="width", fontSize=11.5, aria=False
            ).encode(text="text:N"),
        ]
    drawing = alt.layer(*layers).properties(
        width="container", height=height, autosize={"type": "fit", "contains": "padding"}
    )
    return Figure(drawing, data)
