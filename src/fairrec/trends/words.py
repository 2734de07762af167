"""Groups over releases in words: for the terminal, Markdown and the page."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fairrec.core.errors import listed, plain
from fairrec.report.answer import Answer, AnswerTable, Block, Note, Row
from fairrec.report.text import write_markdown
from fairrec.report.words import (
    TableView,
    confidence,
    group_label,
    number,
    p_is,
    p_value,
    plural,
    signed,
    signed_interval,
)
from fairrec.trends.result import Order, TrendLine, TrendPoint, TrendSummary

LONGEST_NAME = 60
_ORDER: dict[Order, str] = {
    "as given": "in the order given",
    "made_at": "in the order they were audited",
    "name": "in the order of the names of their folders",
}


@dataclass(frozen=True, slots=True)
class TrendView:
    """A trend, ready to print.

    Parameters
    ----------
    worse : a sentence for each group that is worse since a release, the newest included
    back : the same of those that are not in the newest
    lines : a table of all groups that are shown
    details : one table for each of them, release by release
    """

    answer: Answer
    worse: tuple[str, ...]
    back: tuple[str, ...]
    lines: TableView
    details: tuple[TableView, ...]
    notes: tuple[str, ...]
    reproduce: str


def trend_view(summary: TrendSummary) -> TrendView:
    """The view of a trend."""
    shown = summary.lines
    back = [line for line in shown if line.worse_since and line.worse_since.is_back]
    notes = tuple(plain(note, 1000) for note in summary.notes)
    worse = tuple(map(worse_since_line, summary.worse))
    return TrendView(
        answer=Answer(
            tone="found" if worse else "open",
            headline=_headline(summary),
            about=(_about(summary),),
            notes=tuple(Note("note", text) for text in notes),
            table=_answer_table(summary),
            sentences=worse[:1],
            others=worse[1:],
        ),
        worse=worse,
        back=tuple(f"{worse_since_line(line)}; not in the newest release" for line in back),
        lines=_table(summary),
        details=tuple(_detail(line, summary) for line in shown),
        notes=notes,
        reproduce=plain(summary.command, 4000),
    )


def _answer_table(summary: TrendSummary) -> AnswerTable | None:
    """The harm of each group in the first and the newest release, in a block a metric."""
    if not summary.lines:
        return None
    blocks = []
    for metric in summary.metrics:
        rows = tuple(
            Row(
                group_label(line.group),
                (
                    *(_harm(line.points[at]) for at in (0, -1)),
                    _verdict(line.points[-1]),
                    plain(line.worse_since.release, 20) if line.worse_since else "-",
                ),
                "worse" if line.worse_since and not line.worse_since.is_back else None,
            )
            for line in summary.lines
            if line.metric == metric
        )
        if rows:
            blocks.append(
                Block(
                    plain(metric),
                    rows,
                    f"{plural(len(rows), 'group')}, all on the page",
                    is_ranked=True,
                )
            )
    first, last = (plain(summary.releases[at].name, 14) for at in (0, -1))
    columns = ("group", f"harm {first}", f"harm {last}", "verdict", "worse since")
    return AnswerTable(columns, (False, True, True, False, False), tuple(blocks))


def worse_since_line(line: TrendLine) -> str:
    """Group, metric and since when it is worse, on one line."""
    since = line.worse_since
    assert since is not None
    moved = f" ({since.end})" if since.end else ""
    # it lost some of what it had more than all others, and has the rest
    ahead = ", and is still better than all others" if since.before + since.growth < 0 else ""
    return (
        f"{group_label(line.group)}: {plain(line.metric)} worse since "
        f"{plain(since.release, LONGEST_NAME)}{moved}, its harm grew by {number(since.growth)} "
        f"from {number(since.before)}{ahead} ({p_is(p_value(since.p_adjusted))}, first detected at "
        f"{plain(since.said_at, LONGEST_NAME)})"
    )


def _headline(summary: TrendSummary) -> str:
    n = len({frozenset(line.group.items()) for line in summary.worse})
    if not n:
        since_none = f"since any of {len(summary.releases)} releases"
        if all_along := [line for line in summary.lines if line.together]:
            first = all_along[0]
            groups = {frozenset(line.group.items()) for line in all_along}
            more = f", as {plural(len(groups) - 1, 'more group')}" if len(groups) > 1 else ""
            return (
                f"{group_label(first.group)} is worse in {plain(first.metric)} by all releases "
                f"together{more}; none is shown to have become worse {since_none}"
            )
        return f"No group is significantly worse {since_none}"
    first = summary.worse[0]
    since = first.worse_since
    assert since is not None
    more = f", and {plural(n - 1, 'more group')}" if n > 1 else ""
    return (
        f"{group_label(first.group)} is worse since {plain(since.release, LONGEST_NAME)} in "
        f"{plain(first.metric)}{more}"
    )


def _about(summary: TrendSummary) -> str:
    first, last = (plain(summary.releases[at].name, LONGEST_NAME) for at in (0, -1))
    is_named = any(line.why == "named" for line in summary.lines)
    groups = plural(summary.n_groups, "group")
    family = f"{groups} named beforehand" if is_named else f"{groups} of all releases"
    return (
        f"{len(summary.releases)} releases, {first} to {last}, {_ORDER[summary.order]}; "
        f"{listed(summary.metrics)}. Valid at {confidence(summary.alpha)} under repeated looks, "
        f"across {family} and all metrics."
    )


def _table(summary: TrendSummary) -> TableView:
    first, last = (plain(summary.releases[at].name, 20) for at in (0, -1))
    return TableView(
        title="Groups over releases",
        columns=(
            "group",
            "metric",
            f"harm in {first}",
            f"harm in {last}",
            f"verdict of {last}",
            "worse since",
            "by all releases",
        ),
        numeric=(False, False, True, True, False, False, False),
        rows=tuple(
            (
                group_label(line.group),
                plain(line.metric),
                _harm(line.points[0]),
                _harm(line.points[-1]),
                _verdict(line.points[-1]),
                _since(line),
                f"worse by {number(line.together.harm)}" if line.together else "-",
            )
            for line in summary.lines
        ),
        note=(
            "Harm: how much worse than all others, positive is worse. By all releases: worse than "
            "all others by all of them together. Not significant does not mean equal."
        ),
    )


def _detail(line: TrendLine, summary: TrendSummary) -> TableView:
    return TableView(
        title=f"{group_label(line.group)}, {plain(line.metric)}",
        columns=(
            "release",
            summary.unit.many,
            "value",
            "harm",
            "interval, one at a time",
            "verdict",
        ),
        numeric=(False, True, True, True, True, False),
        rows=tuple(
            (plain(release.name, LONGEST_NAME), *_cells(point))
            for release, point in zip(summary.releases, line.points, strict=True)
        ),
    )


def _cells(point: TrendPoint | None) -> tuple[str, str, str, str, str]:
    if point is None:
        return "-", "-", "-", "-", "-"
    return (
        f"{point.support:,}",
        number(point.value),
        _harm(point),
        "-" if point.harm is None else signed_interval(*point.interval, point.harm),
        _verdict(point),
    )


def _harm(point: TrendPoint | None) -> str:
    return "-" if point is None or point.harm is None else signed(point.harm)


def _verdict(point: TrendPoint | None) -> str:
    return "-" if point is None or point.outcome is None else point.outcome


def _since(line: TrendLine) -> str:
    since = line.worse_since
    if since is None:
        return "-"
    return plain(since.release, LONGEST_NAME) + (" (not in the newest)" if since.is_back else "")


def trend_markdown(view: TrendView) -> str:
    """A trend as Markdown, with outside text escaped."""
    answer = replace(view.answer, table=None, sentences=(), others=())
    tables = [view.lines] if view.lines.rows else []
    said = (*view.worse, *view.back)
    return write_markdown("FairRec trend", answer, said, tables, view.reproduce)
