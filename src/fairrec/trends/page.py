"""Groups over releases as one HTML file: charts are images, so nothing in them can run."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from itertools import groupby

from fairrec.core.errors import plain
from fairrec.report.page.groups import ticks
from fairrec.report.page.html import css_text, page_css, page_template, policy
from fairrec.report.page.vega import GROUP, STILL_INK, WORSE
from fairrec.report.words import group_label, tick
from fairrec.trends.result import TrendLine, TrendRelease, TrendSummary
from fairrec.trends.words import growths, line_table, lines_table, trend_answer

ROWS_SHOWN = 10
MOST_CHARTS = 40
"""More lines have a row in the table, and no chart."""


def trend_page(summary: TrendSummary) -> str:
    """The page of a trend."""
    from markupsafe import Markup

    answer, drawn = trend_answer(summary), summary.lines[:MOST_CHARTS]
    reach = {
        metric: axis_range([line for line in drawn if line.metric == metric])
        for metric in summary.metrics
    }
    charts = [
        {
            "data": base64.b64encode(
                trend_lines(line, summary.releases, reach[line.metric]).encode()
            ).decode(),
            "table": line_table(line, summary),
        }
        for line in drawn
    ]
    return page_template("trend.html.j2").render(
        answer=answer,
        growths=growths(summary),
        lines=lines_table(summary),
        charts=charts,
        rows_shown=ROWS_SHOWN,
        n_more=len(summary.lines) - len(drawn),
        definitions=[(name, metric.definition) for name, metric in summary.metrics.items()],
        command=plain(summary.command, 4000),
        policy=policy(images=True),
        css=Markup(page_css()),
        running_title=Markup(css_text(f"FairRec: {answer.headline[:100]}")),
    )


WIDTH, HEIGHT = 300, 130
MOST_LABELS = 12
_LONGEST = 18
_LEFT, _TOP, _BELOW = 52, 40, 74


def trend_lines(
    line: TrendLine, releases: Sequence[TrendRelease], reach: tuple[float, float]
) -> str:
    """A line through the harms with an interval each; broken where a release has none.

    Parameters
    ----------
    reach : lowest and highest harm of the axis, the same in all charts of a metric
    """
    low, high = reach
    since = line.worse_since
    colour = WORSE if since and not since.is_back else GROUP

    def x(place: float) -> str:
        return f"{_LEFT + WIDTH * (place + 0.4) / max(len(releases) - 0.2, 0.8):.1f}"

    def y(harm: float) -> str:
        return f"{_TOP + HEIGHT * (high - min(max(harm, low), high)) / (high - low):.1f}"

    right, bottom = _LEFT + WIDTH, _TOP + HEIGHT
    about = plain(line.metric, 44)
    if since is not None:
        about += f": worse since {plain(since.release, _LONGEST)}"
    parts = [_text(6, 14, plain(group_label(line.group), 44), 'font-size="13"')]
    parts.append(_text(6, 30, about))
    for at in ticks(low, high):
        parts.append(_line(_LEFT, y(at), right, y(at), STILL_INK, 'stroke-opacity="0.12"'))
        parts.append(_text(_LEFT - 6, y(at), tick(at), 'text-anchor="end" dy="4"'))
    parts.append(_line(_LEFT, y(0), right, y(0), STILL_INK, 'stroke-opacity="0.5"'))
    for place in range(0, len(releases), -(-len(releases) // MOST_LABELS)):
        turn = f'text-anchor="end" transform="rotate(-40 {x(place)} {bottom + 14})"'
        parts.append(_text(x(place), bottom + 14, plain(releases[place].name, _LONGEST), turn))
    known = [
        (place, point.harm, point.interval)
        for place, point in enumerate(line.points)
        if point is not None and point.harm is not None
    ]
    for place, _, (least, most) in known:
        ends = y(low if least is None else least), y(high if most is None else most)
        parts.append(_line(x(place), ends[0], x(place), ends[1], colour, 'stroke-opacity="0.6"'))
    # places that follow one another are as far from their number as the first of them
    for _, run in groupby(enumerate(known), lambda numbered: numbered[1][0] - numbered[0]):
        joined = " ".join(f"{x(place)},{y(harm)}" for _, (place, harm, _) in run)
        parts.append(
            f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
    parts += [
        f'<circle cx="{x(place)}" cy="{y(harm)}" r="3.3" fill="{colour}"/>'
        for place, harm, _ in known
    ]
    if since is not None:
        at_since = x(since.since - 0.5)
        parts.append(_line(at_since, _TOP, at_since, bottom, STILL_INK, 'stroke-dasharray="5 3"'))
    size = f'width="{right + 8}" height="{bottom + _BELOW}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11" '
        f'fill="{STILL_INK}">{"".join(parts)}</svg>'
    )


def axis_range(lines: Sequence[TrendLine]) -> tuple[float, float]:
    """What the axes of some lines show: all harms, and intervals as far as they are not wider."""
    points = [point for line in lines for point in line.points if point and point.harm is not None]
    harms = [point.harm for point in points if point.harm is not None]
    ends = [end for point in points for end in point.interval if end is not None]
    low, high = min([*harms, 0.0]), max([*harms, 0.0])
    room = (high - low) or 1.0
    low = max(min([*ends, low]), low - room)
    high = min(max([*ends, high]), high + room)
    return low - 0.05 * room, high + 0.05 * room


def _line(x: object, y: object, to_x: object, to_y: object, colour: str, look: str) -> str:
    return f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" stroke="{colour}" {look}/>'


def _text(x: object, y: object, text: str, look: str = "") -> str:
    return f'<text x="{x}" y="{y}" {look}>{escape(text)}</text>'
