"""The harm of one group over releases, with intervals, and since when it is worse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import plain
from fairrec.report.figures.palette import GROUP, WORSE
from fairrec.report.figures.still import INK, still
from fairrec.report.words import group_label
from fairrec.result.trend_schema import TrendLine, TrendRelease

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 300, 130
MOST_LABELS = 12
_LONGEST = 18


def trend_lines(
    line: TrendLine, releases: Sequence[TrendRelease], reach: tuple[float, float]
) -> alt.TopLevelMixin:
    """A line through the harms with an interval each; a gap where a release has none.

    Parameters
    ----------
    reach : lowest and highest harm of the axis, the same in all charts of a metric
    """
    import altair as alt

    names = [plain(release.name, _LONGEST) for release in releases]
    # names cut short may be alike, positions never are
    labels = "[" + ",".join(_quoted(name) for name in names) + "][datum.value]"
    step = -(-len(names) // MOST_LABELS)
    x = alt.X(
        "release:Q",
        title=None,
        scale=alt.Scale(domain=[-0.4, len(names) - 0.6], nice=False),
        axis=alt.Axis(
            values=list(range(0, len(names), step)),
            labelExpr=labels,
            labelAngle=-40,
            labelLimit=110,
            labelOverlap=False,
            grid=False,
        ),
    )
    y = alt.Y(
        "harm:Q",
        title="harm",
        scale=alt.Scale(domain=list(reach), clamp=True, nice=False),
        axis=alt.Axis(tickCount=4),
    )
    base = alt.Chart(alt.InlineData(values=_rows(line, reach)))
    since = line.worse_since
    colour = WORSE if since and not since.is_back else GROUP
    layers: list[Any] = [
        alt.Chart(alt.InlineData(values=[{"at": 0}]))
        .mark_rule(color=INK, strokeWidth=1, opacity=0.5)
        .encode(y="at:Q"),
        base.transform_filter("isValid(datum.harm)")
        .mark_rule(strokeWidth=1.4, color=colour, opacity=0.6)
        .encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(strokeWidth=2, color=colour, invalid="break-paths-filter-domains").encode(
            x=x, y=y
        ),
        base.transform_filter("isValid(datum.harm)")
        .mark_point(filled=True, size=34, opacity=1, color=colour)
        .encode(x=x, y=y),
    ]
    if since is not None:
        layers.append(
            alt.Chart(alt.InlineData(values=[{"at": since.since - 0.5}]))
            .mark_rule(color=INK, strokeDash=[5, 3], strokeWidth=1.5)
            .encode(x="at:Q")
        )
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    title = plain(group_label(line.group), 44)
    notes = [plain(line.metric, 44)]
    if since is not None:
        notes[0] += f": worse since {plain(since.release, _LONGEST)}"
    return still(chart, title, notes)


def reach_of(lines: Sequence[TrendLine]) -> tuple[float, float]:
    """What the axes of some lines show: all harms, and intervals as far as they are not wider."""
    points = [point for line in lines for point in line.points if point and point.harm is not None]
    harms = [point.harm for point in points if point.harm is not None]
    ends = [end for point in points for end in point.interval if end is not None]
    low, high = min([*harms, 0.0]), max([*harms, 0.0])
    room = (high - low) or 1.0
    low = max(min([*ends, low]), low - room)
    high = min(max([*ends, high]), high + room)
    return low - 0.05 * room, high + 0.05 * room


def _rows(line: TrendLine, reach: tuple[float, float]) -> list[dict[str, float | None]]:
    """One a release; an end without a limit is that of the axis."""
    rows: list[dict[str, float | None]] = []
    for at, point in enumerate(line.points):
        row: dict[str, float | None] = {"release": at, "harm": None, "low": None, "high": None}
        if point is not None and point.harm is not None:
            low, high = point.interval
            row |= {
                "harm": point.harm,
                "low": reach[0] if low is None else max(low, reach[0]),
                "high": reach[1] if high is None else min(high, reach[1]),
            }
        rows.append(row)
    return rows


def _quoted(text: str) -> str:
    r"""Text as a string of a Vega expression, of which nothing can end the string.

    >>> print(_quoted("v1'"))
    'v1\u0027'
    """
    safe = (c if c.isascii() and (c.isalnum() or c in " .-") else _escaped(c) for c in text)
    return f"'{''.join(safe)}'"


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
