"""A mitigation laid out: as text, as Markdown, and before the audit of its lists on the page."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import polars as pl

from fairrec.mitigation.result import MitigationSummary
from fairrec.mitigation.view import MitigationView, Slope, TradeOff, build_mitigation_view
from fairrec.report.page.build import answer
from fairrec.report.page.html import page_html, page_template
from fairrec.report.page.vega import (
    BETTER,
    CHOSEN,
    GROUP,
    SERIES,
    WORSE,
    Figure,
    as_row,
    channel,
    layer,
    layered,
)
from fairrec.report.page.view import PageSection
from fairrec.report.text import write_markdown
from fairrec.report.view import build_view
from fairrec.report.words import number
from fairrec.result.folder import AuditRun
from fairrec.result.schema import AuditSummary


def mitigation_page(
    mitigation: MitigationSummary,
    summary: AuditSummary,
    groups: pl.DataFrame,
    group_file: str = "groups.parquet",
    run: AuditRun | None = None,
) -> str:
    """The page of the audit of re-ranked lists, after what was done to them.

    Parameters
    ----------
    summary, groups, group_file, run : as of `page_html`
    """
    view, words = build_mitigation_view(mitigation), build_view(summary, groups)
    section = PageSection(
        kind="mitigation",
        anchor="mitigation",
        title="Mitigation",
        headline=view.answer.headline,
        html=page_template("mitigation.html.j2").render(done=view, answer=answer(words.verdicts)),
        words=words,
        figures={
            **{f"trade-off-{at}": trade_off(part) for at, part in enumerate(view.trade_offs)},
            **{f"slope-{at}": before_after(slope) for at, slope in enumerate(view.slopes)},
        },
        is_answer=True,
    )
    return page_html(summary, groups, group_file, run, section)


def mitigation_markdown(view: MitigationView) -> str:
    """A mitigation as Markdown."""
    answer = replace(view.answer, table=None, about=(), others=())
    return write_markdown("FairRec mitigation", answer, view.said, view.tables, view.reproduce)


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
            "lines": [as_row(line) for line in view.lines],
            "taken": [{"strength": view.chosen}],
        },
    )


ENDS = ["before", "after"]


_TONES = {"better": BETTER, "worse": WORSE, "neutral": GROUP}


_SHAPES = {"better": "triangle-up", "worse": "triangle-down", "neutral": "circle"}


def before_after(slope: Slope, height: int = 220) -> Figure:
    """A line from before to after, the interval of the change at its end, and dashed levels."""
    colour = _TONES[slope.tone]
    low, high = _span(slope)
    y = channel("value:Q", title=None, scale={"domain": [low, high], "zero": False}, axis=None)
    bare = {"labelAngle": 0, "domain": False, "ticks": False}
    x = channel(
        "when:O",
        title=None,
        sort=ENDS,
        scale={"domain": ENDS, "type": "point", "padding": 0.62},
        axis={**bare, "labelPadding": 6, "labelFontSize": 12.5},
    )
    at = {"x": x, "y": y}
    text = channel("label:N")
    tooltip = [channel("when:N", title="lists"), channel("label:N", title=slope.metric)]
    shown = {**at, "tooltip": tooltip}
    form: dict[str, Any] = {"filled": True, "size": 110, "opacity": 1, "shape": _SHAPES[slope.tone]}
    dashed: dict[str, Any] = {"strokeDash": [6, 4], "strokeWidth": 1.4, "color": GROUP}
    layers = [
        # between the ends, so that no line runs through the numbers beside them
        layer("line", {**at, "detail": text}, data="levels", **dashed),
        layer("line", shown, data="ends", strokeWidth=3.2, color=colour),
        layer("point", shown, data="ends", color=colour, **form),
    ]
    for when, is_above in product(ENDS, (True, False)):
        layers.append(
            layer(
                "text",
                {**at, "text": text},
                data="levels",
                only=f"datum.at === '{when}' && datum.when === datum.at "
                f"&& datum.above === {int(is_above)}",
                align="left" if when == "before" else "right",
                dx=10 if when == "before" else -10,
                dy=-8 if is_above else 9,
                baseline="middle",
                fontSize=12,
            )
        )
    for when, side in (("before", -1), ("after", 1)):
        layers.append(
            layer(
                "text",
                {**shown, "text": text},
                data="ends",
                only=f"datum.when === '{when}'",
                align="right" if side < 0 else "left",
                dx=11 * side,
                baseline="middle",
                fontSize=14,
                fontWeight="bold",
            )
        )
    data: dict[str, list[dict[str, Any]]] = {
        "ends": [
            {"when": when, "value": value, "label": number(value)}
            for when, value in zip(ENDS, (slope.before, slope.after), strict=True)
        ],
        "levels": [
            {"when": when, "value": level.value, "label": level.label, **_words_at(slope, at)}
            for at, level in enumerate((slope.others, slope.floor))
            if level is not None
            for when in ENDS
        ],
    }
    if slope.low is not None and slope.high is not None:
        data["interval"] = [{"when": ENDS[1], "value": slope.low, "to": slope.high}]
        span = {**at, "y2": {"field": "to"}}
        layers.append(layer("rule", span, data="interval", strokeWidth=1.6, color=colour))
        cap: dict[str, Any] = {"orient": "horizontal", "width": 12, "thickness": 1.6}
        for end in (y, channel("to:Q")):
            encoding = {"x": x, "y": end}
            layers.append(layer("tick", encoding, data="interval", color=colour, **cap))
    return Figure(layered(layers, height), data)


def _span(slope: Slope) -> tuple[float, float]:
    """All that is drawn, with room for the words of the levels."""
    levels = (level.value for level in (slope.others, slope.floor) if level)
    ends = (end for end in (slope.low, slope.high) if end is not None)
    values = (slope.before, slope.after, *levels, *ends)
    low, high = min(values), max(values)
    air = 0.14 * (high - low) or 0.05 * (abs(high) or 1.0)
    return low - air, high + air


def _words_at(slope: Slope, at: int) -> dict[str, Any]:
    """Where the words of a level stand: on the side of it, and at the end, that the line is not."""
    levels = (slope.others, slope.floor)
    level, other = levels[at], levels[1 - at]
    assert level is not None
    if other is not None:
        is_above = level.value > other.value or (level.value == other.value and at == 0)
    else:
        is_above = level.value >= (slope.before + slope.after) / 2
    is_rising = slope.after >= slope.before
    return {"above": int(is_above), "at": ENDS[0] if is_above == is_rising else ENDS[1]}
