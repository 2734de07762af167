"""What each strength of a re-ranking does to a metric."""

from __future__ import annotations

from fairrec.report.figures.figure import Figure, channel, fields_of, layer, layered
from fairrec.report.figures.palette import CHOSEN, SERIES
from fairrec.report.mitigation.view import TradeOff


def trade_off(view: TradeOff, height: int = 240) -> Figure:
    """Lines over the strength, one for each set of users, and the strength that was taken."""
    who = list(dict.fromkeys(line.who for line in view.lines))
    forms = ["circle", "square", "diamond"][: len(who)]
    encoding = {
        "x": channel(
            "strength:Q",
            title="strength",
            scale={"domain": [0, 1]},
            axis={"tickCount": 5, "grid": False},
        ),
        "y": channel("value:Q", title=view.metric, scale={"zero": False}, axis={"tickCount": 5}),
        "color": channel(
            "who:N",
            title=None,
            scale={"domain": who, "range": [*SERIES[: len(who)]]},
            legend={"orient": "top", "direction": "vertical", "labelLimit": 260},
        ),
        "tooltip": [
            channel("strength:Q", format=".2~f"),
            channel("value:Q", title=view.metric, format=".4~r"),
            channel("who:N", title="users"),
        ],
    }
    # the form tells the lines apart where colours do not
    shape = channel("who:N", title=None, scale={"domain": who, "range": forms})
    taken = {
        "x": channel("strength:Q"),
        "tooltip": channel("strength:Q", title="strength taken"),
    }
    layers = [
        layer("rule", taken, data="taken", strokeWidth=2, color=CHOSEN),
        layer("line", encoding, data="lines", strokeWidth=2),
        layer("point", {**encoding, "shape": shape}, data="lines", filled=True, size=34),
    ]
    return Figure(
        layered(layers, height),
        {
            "lines": [fields_of(line) for line in view.lines],
            "taken": [{"strength": view.chosen}],
        },
    )
