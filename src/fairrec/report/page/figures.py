"""The charts of an audit as specifications: groups, ruled-out harms, pairs, search history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fairrec.core.audited_entity import Unit
from fairrec.core.errors import plain
from fairrec.report.findings import service_direction
from fairrec.report.group_rows import GroupNumbers
from fairrec.report.metric_words import harm_word, scored
from fairrec.report.page.groups import PageGroups, Pair
from fairrec.report.page.vega import (
    BETTER,
    CHOSEN,
    DIVERGING,
    DIVERGING_NEUTRAL,
    GROUP,
    INK_STYLE,
    NO_GROUP,
    SERIES,
    TEXT_ON_MAP,
    WORSE,
    Figure,
    channel,
    layer,
    layered,
    where,
)
from fairrec.report.words import MINUS, group_label, plural, shown, value_order, with_sign
from fairrec.result.schema import AuditSummary, HistoryPoint
from fairrec.statistics.verdict import CertifiedSize

POINTS = 2000
"""Groups in the charts of all metrics together."""
AXIS_VALUES = 25
"""Values of an attribute on the axis of a map."""
FADED = 0.3
"""How much of its colour a cell keeps that is not significant."""
PER_CHARACTER = 6.2
"""Pixels that a character of a number needs."""


def group_chart(groups: PageGroups, metric: str, height: int = 320) -> Figure:
    """Value against size; diamonds are findings, and the chosen group has a ring."""
    summary = groups.summary
    result, many = summary.metrics[metric], summary.unit.many
    frame = groups.sample(metric, POINTS // max(1, len(groups.drawn)))
    found = {groups.key(finding.group): finding for finding in result.findings}
    points: list[dict[str, Any]] = []
    for one, is_whole in zip(groups.rows(frame), frame["is_fully_scored"], strict=True):
        finding = found.get(groups.key(one.group))
        points.append(
            {
                "group": groups.number(one.group),
                "label": group_label(one.group),
                "size": one.support,
                "value": one.value,
                "difference": one.difference,
                "p_adjusted": one.p_adjusted,
                "direction": "" if finding is None else service_direction(finding, result),
                "known": "fully scored" if is_whole else "from a sample",
            }
        )
    sizes = [point["size"] for point in points] or [1]
    values = [result.mean, *(point["value"] for point in points if point["value"] is not None)]
    air = 0.06 * (max(values) - min(values)) or 0.05 * (abs(result.mean) or 1.0)
    at = {
        "x": channel(
            "size:Q",
            title=f"{many} in the group (log scale)",
            scale={"type": "log", "domain": [min(sizes) / 1.25, max(sizes) * 1.25], "nice": False},
            axis={"format": "~s", "tickCount": 6, "grid": False},
        ),
        "y": channel(
            "value:Q",
            title=plain(metric),
            scale={"domain": [min(values) - air, max(values) + air], "zero": False},
            axis={"tickCount": 6},
        ),
    }
    colours = {"": GROUP, "worse": WORSE, "better": BETTER, "differs": GROUP}
    tone = channel(
        "direction:N", scale={"domain": [*colours], "range": [*colours.values()]}, legend=None
    )
    marked = {
        **at,
        "fill": tone,
        "fillOpacity": where("datum.known === 'fully scored'", 1, 0),
        "tooltip": group_tooltip(summary.unit),
    }
    look: dict[str, Any] = {"filled": False, "cursor": "pointer", "opacity": 1}
    small: dict[str, Any] = {**look, "size": 34, "stroke": GROUP, "strokeWidth": 1.2}
    large: dict[str, Any] = {**look, "size": 125, "strokeWidth": 1.6, "shape": "diamond"}
    ring: dict[str, Any] = {"filled": False, "size": 420, "strokeWidth": 3.2, "color": CHOSEN}
    dashed: dict[str, Any] = {"strokeDash": [6, 4], "strokeWidth": 1.2, "color": GROUP}
    spec = layered(
        [
            layer("point", marked, only="datum.direction === ''", **small),
            layer("rule", {"y": channel("value:Q")}, data="mean", **dashed),
            layer("point", marked, only="datum.direction !== ''", style=INK_STYLE, **large),
            layer("point", at, only="datum.group === chosen", **ring),
        ],
        height,
        data="points",
        params=[{"name": "chosen", "value": NO_GROUP}],
    )
    return Figure(spec, {"points": points, "mean": [{"value": result.mean}]})


def group_tooltip(unit: Unit) -> list[dict[str, Any]]:
    """What is shown of the group under the pointer."""
    return [
        channel("label:N", title="group"),
        channel("size:Q", title=unit.many, format=","),
        channel("value:Q", title="value", format=".3~r"),
        channel("difference:Q", title="difference to others", format="+.3~r"),
        channel("p_adjusted:Q", title="p adjusted", format=".3~f"),
    ]


def ruled_out_curve(
    groups: PageGroups, metric: str, steps: tuple[CertifiedSize, ...], height: int = 220
) -> Figure:
    """The largest harm not ruled out by size of group, with a line at the tolerance."""
    summary = groups.summary
    result, unit = summary.metrics[metric], scored(summary)
    tolerance = None if result.verdict is None else result.verdict.tolerance
    largest = groups.of_metric[metric]["support"].max()
    end = max(largest if isinstance(largest, int) else 0, steps[0].support + 1)
    top = 1.12 * max(*(step.harm for step in steps), tolerance or 0.0) or 1.0
    at = {
        "x": channel(
            "size:Q",
            title=f"{unit.many} in the group, at least (log scale)",
            scale={"type": "log", "domain": [steps[0].support, end], "nice": False},
            axis={"format": "~s", "tickCount": 6, "grid": False},
        ),
        # what is ruled out for few users may be a thousand times what is for many
        "y": channel(
            "harm:Q",
            title=f"{harm_word(result)} (square-root scale)",
            scale={"type": "sqrt", "domain": [0, top], "nice": False},
            axis={"tickCount": 5},
        ),
    }
    # the last step holds for all larger groups
    rows = [
        {"size": size, "harm": step.harm, "n_groups": step.n_groups}
        for step, size in [*((step, step.support) for step in steps), (steps[-1], end)]
    ]
    tooltip = [
        channel("size:Q", title=f"{summary.unit.many}, at least", format=","),
        channel("harm:Q", title="not ruled out, up to", format=".3~r"),
        channel("n_groups:Q", title="groups", format=","),
    ]
    stepwise: dict[str, Any] = {"interpolate": "step-after"}
    layers = [
        layer("area", at, color=GROUP, opacity=0.2, **stepwise),
        layer("line", at, strokeWidth=2, style=INK_STYLE, **stepwise),
        # wide targets for the pointer
        layer("point", {**at, "tooltip": tooltip}, filled=True, size=140, opacity=0),
    ]
    if tolerance is not None:
        dashed: dict[str, Any] = {"color": WORSE, "strokeWidth": 2, "strokeDash": [6, 4]}
        layers.append(layer("rule", {"y": at["y"]}, data="tolerance", **dashed))
    limit = [] if tolerance is None else [{"harm": tolerance}]
    return Figure(layered(layers, height, data="steps"), {"steps": rows, "tolerance": limit})


def search_history(
    metric: str, steps: tuple[HistoryPoint, ...], unit: Unit, height: int = 200
) -> Figure:
    """The largest gap that a search had found over the users scored, in steps."""
    encoding = {
        "x": channel(
            "users:Q",
            title=f"{unit.many} scored",
            scale={"zero": True},
            axis={"format": "~s", "tickCount": 5, "grid": False},
        ),
        "y": channel("gap:Q", title=f"gap in {plain(metric)}", axis={"tickCount": 5}),
        "tooltip": [
            channel("users:Q", title=f"{unit.many} scored", format=","),
            channel("gap:Q", title="gap", format=".3~r"),
        ],
    }
    layers = [
        layer("line", encoding, interpolate="step-after", strokeWidth=2, color=SERIES[1]),
        layer("point", encoding, filled=True, size=36, color=SERIES[1]),
    ]
    return Figure(
        layered(layers, height, data="steps"), {"steps": [step.model_dump() for step in steps]}
    )


def pair_map(groups: PageGroups, metric: str, pair: Pair, rows: Sequence[GroupNumbers]) -> Figure:
    """The groups of two attributes, coloured by their differences from all others.

    Parameters
    ----------
    rows : these groups; of an attribute with many values, some are drawn
    """
    summary = groups.summary
    result, alpha = summary.metrics[metric], summary.alpha
    for name in pair:
        values = _drawn_values(rows, name, alpha)
        rows = [row for row in rows if row.group[name] in values]
    down, across = ({row.group[name] for row in rows} for name in pair)
    reach = color_range(groups, metric)
    decimals = max(0, 2 - math.floor(math.log10(reach)))
    found = groups.finding_keys(metric)
    cells = [
        {
            "group": groups.number(row.group),
            "label": group_label(row.group),
            "row": shown(row.group[pair[0]]),
            "column": shown(row.group[pair[1]]),
            "size": row.support,
            "value": row.value,
            "difference": row.difference,
            "p_adjusted": row.p_adjusted,
            "text": _cell_text(row.difference, decimals),
            "is_finding": groups.key(row.group) in found,
            "is_faded": not _is_significant(row, alpha) and row.p_adjusted is not None,
        }
        for row in rows
    ]
    bare = {"labelLimit": 120, "domain": False, "ticks": False, "grid": False}
    at = {
        "x": channel(
            "column:N",
            title=plain(pair[1]),
            sort=[*map(shown, sorted(across, key=value_order))],
            axis={"labelAngle": -45, **bare},
        ),
        "y": channel(
            "row:N",
            title=plain(pair[0]),
            sort=[*map(shown, sorted(down, key=value_order))],
            axis=bare,
        ),
    }
    colours = DIVERGING_NEUTRAL if result.higher_is_better is None else DIVERGING
    squares = {
        **at,
        "color": channel(
            "difference:Q",
            scale={
                "domain": [-reach, 0, reach],
                "range": [*(colours[::-1] if result.higher_is_better is False else colours)],
                "interpolate": "rgb",
                "clamp": True,
            },
            legend={
                "title": "difference to others",
                "orient": "top",
                "titleOrient": "left",
                "gradientLength": 150,
                "tickCount": 3,
                "format": "+.2~r",
            },
        ),
        "fillOpacity": where("datum.is_faded", FADED, 1),
        "stroke": {"value": CHOSEN},
        # a filter by the chosen group would be shorter, but Vega fails where none is left
        "strokeWidth": where("datum.group === chosen", 4.5, 0),
        "tooltip": group_tooltip(summary.unit),
    }
    outline: dict[str, Any] = {"filled": False, "style": INK_STYLE, "strokeWidth": 2}
    # numbers stand in all cells or in none: the longest must fit
    longest = max((len(str(cell["text"])) for cell in cells), default=0)
    fits = f"bandwidth('x') >= {PER_CHARACTER * longest + 2:.0f}"
    numbers = {**at, "text": {"condition": {"test": fits, **channel("text:N")}, "value": ""}}
    # a faded cell has the ground of the page, a full one is light on any ground
    on_colour: dict[str, Any] = {"color": TEXT_ON_MAP, "fontWeight": 600}
    layers = [
        layer("rect", squares, cornerRadius=3, cursor="pointer"),
        layer("rect", at, only="datum.is_finding", cornerRadius=3, tooltip=None, **outline),
        *(
            layer("text", numbers, only=which, fontSize=10.5, tooltip=None, **look)
            for which, look in (("datum.is_faded", {}), ("!datum.is_faded", on_colour))
        ),
    ]
    spec = layered(
        layers,
        round(min(44.0, max(22.0, 300 / len(down))) * len(down)),
        data="cells",
        params=[{"name": "chosen", "value": NO_GROUP}],
        autosize={"type": "fit-x", "contains": "padding"},
        config={"scale": {"bandPaddingInner": 0.06}},
    )
    return Figure(spec, {"cells": cells})


def color_range(groups: PageGroups, metric: str) -> float:
    """The difference at which colours end in all maps of a metric: the largest significant one.

    Without any it is the largest, so that small differences do not look large.
    """
    rows = [row for part in groups.pairs(metric).values() for row in part]
    significant = [row for row in rows if _is_significant(row, groups.summary.alpha)]
    return max((abs(row.difference or 0.0) for row in significant or rows), default=0.0) or 1.0


def _is_significant(row: GroupNumbers, alpha: float) -> bool:
    return row.p_adjusted is not None and row.p_adjusted <= alpha


def _cell_text(difference: float | None, decimals: int) -> str:
    if difference is None:
        return ""
    return with_sign(f"{difference:,.{decimals}f}".replace("-", MINUS))


def _drawn_values(rows: Sequence[GroupNumbers], name: str, alpha: float) -> list[str]:
    """The values of an attribute that are drawn: significant ones, then the largest."""
    ranks: dict[str, tuple[bool, int]] = {}
    for row in rows:
        is_significant, size = ranks.get(row.group[name], (False, 0))
        is_significant |= _is_significant(row, alpha)
        ranks[row.group[name]] = is_significant, size + row.support
    return sorted(ranks, key=lambda value: ranks[value], reverse=True)[:AXIS_VALUES]


def rank_pairs(groups: PageGroups) -> list[Pair]:
    """The pairs of attributes, that of the worst finding first, then by their lowest p-value."""
    lowest: dict[Pair, float] = {}
    for metric in groups.drawn:
        for pair, part in groups.pairs(metric).items():
            p_values = [row.p_adjusted for row in part if row.p_adjusted is not None]
            lowest[pair] = min([*p_values, lowest.get(pair, 1.0)])
    named = {*groups.found[0].group} if groups.found else set()

    def rank(pair: Pair) -> tuple[int, float, Pair]:
        return -len(named.intersection(pair)), lowest[pair], pair

    return sorted(lowest, key=rank)


def describe_pair(figure: Figure, metric: str, names: str, summary: AuditSummary) -> str:
    """A map in words."""
    cells = figure.data["cells"]
    n_findings = sum(cell["is_finding"] for cell in cells)
    n_faded = sum(cell["is_faded"] for cell in cells)
    return (
        f"{plain(metric)} by {names}: {plural(len(cells), 'group')} with enough "
        f"{summary.unit.many}, {n_faded:,} faded, {plural(n_findings, 'finding')} outlined."
    )
