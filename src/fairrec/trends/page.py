"""Groups over releases as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairrec.core.errors import plain
from fairrec.report.page.html import Chart, Section, definition_table, write_page
from fairrec.report.page.vega import (
    GROUP,
    INK_STYLE,
    WORSE,
    Figure,
    channel,
    layer,
    layered,
)
from fairrec.report.words import group_label
from fairrec.trends.result import TrendLine, TrendRelease, TrendSummary
from fairrec.trends.words import growths, line_table, lines_table, trend_answer

MOST_CHARTS = 40
"""More lines, and groups of a single release, have a row in the table, and no chart."""


def trend_page(summary: TrendSummary) -> str:
    """The page of a trend."""
    answer = trend_answer(summary)
    drawn = [*filter(_is_drawn, summary.lines)][:MOST_CHARTS]
    ends = {
        metric: axis_range([line for line in drawn if line.metric == metric])
        for metric in summary.metrics
    }
    charts = [
        Chart(
            f"{group_label(line.group)}, {plain(line.metric)}",
            trend_chart(line, summary.releases, ends[line.metric]),
            f"Harm in {plain(line.metric)} over {len(summary.releases)} releases.",
            line_table(line, summary),
        )
        for line in drawn
    ]
    recovered = growths(summary)[len(summary.worse) :]
    lines, notes = lines_table(summary), [note.text for note in answer.notes]
    n_more = len(summary.lines) - len(drawn)
    sections = [
        Section("lines", "Groups over releases", sentences=recovered, tables=(lines,)),
        Section(
            "charts",
            "Harm, release by release",
            sentences=(
                "Vertical lines: intervals of single releases, one group at a time. Dashed line: "
                "the release since which the harm is higher; orange while it still is. A line is "
                "broken where a release has no such group. Drawn are groups of two releases or "
                "more.",
            ),
            charts=charts,
            notes=(f"{n_more:,} more in the table.",) if n_more else (),
        ),
        Section("notes", "Notes", warnings=notes, tables=(definition_table(summary.metrics),)),
        Section("reproduce", "Reproduce", command=plain(summary.command, 4000)),
    ]
    return write_page("trend", answer, sections, title=answer.headline)


def _is_drawn(line: TrendLine) -> bool:
    return sum(point is not None and point.harm is not None for point in line.points) > 1


def trend_chart(
    line: TrendLine,
    releases: Sequence[TrendRelease],
    ends: tuple[float, float],
) -> Figure:
    """The harm of a group in each release with its interval.

    Parameters
    ----------
    ends : lowest and highest harm of the axis, the same in all charts of a metric
    """
    since = line.worse_since
    colour = WORSE if since and not since.is_back else GROUP
    low, high = ends
    names = [plain(one.name, 30) for one in releases]
    known = [
        (at, point)
        for at, point in enumerate(line.points)
        if point is not None and point.harm is not None
    ]
    rows: list[dict[str, Any]] = []
    run = 0
    for place, (at, point) in enumerate(known):
        # a line joins releases that follow one another
        run += bool(place) and known[place - 1][0] + 1 < at
        least, most = point.interval
        rows.append(
            {
                "release": names[at],
                "harm": point.harm,
                "low": low if least is None else least,
                "high": high if most is None else most,
                "run": run,
            }
        )
    x = channel(
        "release:O",
        title=None,
        sort=names,
        scale={"domain": names},
        axis={"labelAngle": -40, "labelLimit": 110},
    )
    at_harm = {
        "x": x,
        "y": channel("harm:Q", title="harm", scale={"domain": [low, high]}, axis={"tickCount": 5}),
    }
    tooltip = [channel("release:O"), channel("harm:Q", format="+.3~r")]
    interval = {"x": x, "y": channel("low:Q"), "y2": {"field": "high"}}
    dashed: dict[str, Any] = {"strokeDash": [5, 3], "style": INK_STYLE}
    layers = [
        layer("rule", {"y": channel("zero:Q")}, data="zero", color=GROUP, opacity=0.6),
        layer("rule", interval, color=colour, opacity=0.6),
        layer("line", {**at_harm, "detail": channel("run:N")}, color=colour, strokeWidth=2),
        layer(
            "point", {**at_harm, "tooltip": tooltip}, color=colour, filled=True, size=50, opacity=1
        ),
        layer("rule", {"x": x}, data="since", **dashed),
    ]
    begun = [] if since is None else [{"release": names[since.since]}]
    data = {"points": rows, "since": begun, "zero": [{"zero": 0}]}
    return Figure(layered(layers, 190, data="points"), data)


def axis_range(lines: Sequence[TrendLine]) -> tuple[float, float]:
    """The lowest and the highest harm of some lines, as far as their intervals reach."""
    points = [point for line in lines for point in line.points if point and point.harm is not None]
    ends = [end for one in points for end in (one.harm, *one.interval) if end is not None]
    return min([0.0, *ends]), max([0.0, *ends])
