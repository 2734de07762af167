"""The page of a mitigation: before and after, then the audit of the re-ranked lists."""

from __future__ import annotations

from typing import Any

import polars as pl

from fairrec.core.errors import plain
from fairrec.mitigation.result import MitigationSummary
from fairrec.mitigation.words import mitigation_answer, notes, tables, target_name
from fairrec.report.page.audit import page_html
from fairrec.report.page.html import Chart, Section
from fairrec.report.page.vega import CHOSEN, GROUP, Figure, channel, layer, layered
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
    section = Section(
        "mitigation",
        "Mitigation: before and after",
        warnings=[note.text for note in notes(mitigation) if note.kind == "note"],
        tables=tables(mitigation),
        charts=[
            Chart(
                f"Strength against {name}",
                trade_off(name, values, mitigation.strength),
                describe_curve(name, values),
            )
            for name, values in trade_offs(mitigation).items()
        ],
        notes=(
            "Everything below is the audit of the re-ranked lists. Every group before and after "
            "is in changes.parquet, the re-ranker in reranker.json.",
        ),
    )
    answer = mitigation_answer(mitigation)
    return page_html(
        summary, groups, group_file, run, kind="mitigation", answer=answer, lead=(section,)
    )


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


def describe_curve(metric: str, values: dict[float, float]) -> str:
    """A curve in a sentence."""
    first, last = min(values), max(values)
    return (
        f"From strength {first:g} to {last:g}, {metric} of the chosen groups goes from "
        f"{number(values[first])} to {number(values[last])} where the strength was tuned. "
        "Vertical line: selected strength."
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
        "tooltip": channel("strength:Q", title="selected strength"),
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
