"""The gap a search knew of, against the users it had scored."""

from __future__ import annotations

from fairrec.report.figures.figure import Figure, channel, layer, layered
from fairrec.report.figures.palette import SERIES
from fairrec.report.page.chart_view import SearchHistory


def search_history(view: SearchHistory, height: int = 200) -> Figure:
    """Steps: the gap stays until a larger one is found."""
    encoding = {
        "x": channel(
            "users:Q",
            title=f"{view.unit.many} scored",
            scale={"zero": True},
            axis={"format": "~s", "tickCount": 5, "grid": False},
        ),
        "y": channel("gap:Q", title=f"gap in {view.metric}", axis={"tickCount": 5}),
        "tooltip": [
            channel("users:Q", title=f"{view.unit.many} scored", format=","),
            channel("gap:Q", title="gap", format=".3~r"),
        ],
    }
    layers = [
        layer("line", encoding, interpolate="step-after", strokeWidth=2, color=SERIES[1]),
        layer("point", encoding, filled=True, size=36, color=SERIES[1]),
    ]
    steps = [step.model_dump() for step in view.steps]
    return Figure(layered(layers, height, data="steps"), {"steps": steps})
