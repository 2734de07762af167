"""The page of a mitigation: before and after, then the audit of the re-ranked lists."""

from __future__ import annotations

from typing import Any

import polars as pl

from fairrec.core.errors import plain
from fairrec.mitigation.result import MitigationSummary
from fairrec.mitigation.words import headline, notes, sentences, tables, target_name
from fairrec.report.page.build import answer
from fairrec.report.page.html import page_html, page_template
from fairrec.report.page.vega import CHOSEN, GROUP, Figure, channel, layer, layered
from fairrec.report.page.view import PageSection
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
    words, curves = build_view(summary, groups), trade_offs(mitigation)
    html = page_template("mitigation.html.j2").render(
        notes=notes(mitigation),
        tables=tables(mitigation),
        curves=[describe_curve(name, values) for name, values in curves.items()],
        sentences=sentences(mitigation),
        answer=answer(words.verdicts),
    )
    section = PageSection(
        kind="mitigation",
        anchor="mitigation",
        title="Mitigation",
        headline=headline(mitigation),
        html=html,
        words=words,
        figures={
            f"trade-off-{at}": trade_off(name, values, mitigation.strength)
            for at, (name, values) in enumerate(curves.items())
        },
        is_answer=True,
    )
    return page_html(summary, groups, group_file, run, section)


def trade_offs(mitigation: MitigationSummary) -> dict[str, dict[float, float]]:
    """Target and accuracy of the chosen groups by strength, where it was tuned."""
    curves = {target_name(mitigation): "target"}
    if mitigation.cost_metric not in (None, mitigation.metric):
        curves[plain(mitigation.cost_metric or "")] = "cost"
    found = {
        name: {
            point.strength: value
            for point in mitigation.trade_off
            if (value := getattr(point, field)) is not None
        }
        for name, field in curves.items()
    }
    return {name: values for name, values in found.items() if values}


def describe_curve(metric: str, values: dict[float, float]) -> tuple[str, str]:
    """The name of a curve, and the curve in a sentence."""
    strengths = sorted(values)
    first, last = strengths[0], strengths[-1]
    return metric, (
        f"From strength {first:g} to {last:g}, {metric} of the chosen groups goes from "
        f"{number(values[first])} to {number(values[last])} where the strength was tuned."
    )


def trade_off(metric: str, values: dict[float, float], taken: float, height: int = 240) -> Figure:
    """A line over the strength, and the strength that was taken."""
    strength = channel(
        "strength:Q",
        title="strength",
        scale={"domain": [0, 1]},
        axis={"tickCount": 5, "grid": False},
    )
    value = channel("value:Q", title=metric, scale={"zero": False}, axis={"tickCount": 5})
    tooltip = [
        channel("strength:Q", format=".2~f"),
        channel("value:Q", title=metric, format=".4~r"),
    ]
    curve: dict[str, Any] = {"x": strength, "y": value, "tooltip": tooltip}
    rule = {
        "x": channel("strength:Q"),
        "tooltip": channel("strength:Q", title="strength taken"),
    }
    layers = [
        layer("rule", rule, data="taken", strokeWidth=2, color=CHOSEN),
        layer("line", curve, data="line", strokeWidth=2, color=GROUP),
        layer("point", curve, data="line", filled=True, size=34, color=GROUP),
    ]
    data = {
        "line": [{"strength": one, "value": values[one]} for one in sorted(values)],
        "taken": [{"strength": taken}],
    }
    return Figure(layered(layers, height), data)
