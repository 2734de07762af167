"""Groups over releases in words and tables: for the terminal, Markdown and the page."""

from __future__ import annotations

from dataclasses import replace

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


def trend_answer(summary: TrendSummary) -> Answer:
    """The group whose harm rose and has not fallen back, and a table of all groups."""
    rose = tuple(map(describe_growth, _rose(summary)))
    return Answer(
        tone="found" if any(map(_is_worse, summary.worse)) else "open",
        headline=_headline(summary),
        about=(_about(summary),),
        notes=tuple(Note("note", plain(note, 1000)) for note in summary.notes),
        table=_answer_table(summary) if summary.lines else None,
        sentences=rose[:1],
        others=rose[1:],
    )


def trend_markdown(summary: TrendSummary) -> str:
    """A trend as Markdown, with outside text escaped."""
    answer = replace(trend_answer(summary), table=None, sentences=(), others=())
    tables = [lines_table(summary)] if summary.lines else []
    command = plain(summary.command, 4000)
    return write_markdown("FairRec trend", answer, growths(summary), tables, command)


def growths(summary: TrendSummary) -> tuple[str, ...]:
    """A sentence for each group whose harm rose; those that recovered last."""
    grown = [line for line in summary.lines if line.worse_since]
    return tuple(
        f"{describe_growth(line)}{'; not in the newest release' * since.is_back}"
        for is_back in (False, True)
        for line in grown
        if (since := line.worse_since) and since.is_back == is_back
    )


def describe_growth(line: TrendLine) -> str:
    """Group, metric, from where to where its harm rose and when, on one line."""
    since = line.worse_since
    assert since is not None
    label, metric, level = group_label(line.group), plain(line.metric), since.before + since.growth
    return (
        f"{label}: harm in {metric} rose from {signed(since.before)} to {signed(level)} at "
        f"{plain(since.release, LONGEST_NAME)} ({p_is(p_value(since.p_adjusted))}, first detected "
        f"at {plain(since.shown_at, LONGEST_NAME)})"
    )


def _rose(summary: TrendSummary) -> list[TrendLine]:
    """Groups whose harm rose and has not fallen back; those now worse than others first."""
    return sorted(summary.worse, key=lambda line: not _is_worse(line))


def _newest(line: TrendLine) -> TrendPoint | None:
    return next((point for point in reversed(line.points) if point), None)


def _is_worse(line: TrendLine) -> bool:
    """Whether a group is shown to be worse than all others; one that lost a lead is not."""
    newest = _newest(line)
    is_found = newest is not None and newest.outcome in ("worse", "worse beyond tolerance")
    return is_found or line.together is not None


def _headline(summary: TrendSummary) -> str:
    rose = _rose(summary)
    worse = [line for line in rose if _is_worse(line)]
    lines = worse or rose or [line for line in summary.lines if line.together]
    n_more = len({frozenset(line.group.items()) for line in lines}) - 1
    more = f", and {plural(n_more, 'more group')}" if n_more > 0 else ""
    since_any = f"since any of {len(summary.releases)} releases"
    if not lines:
        return f"No group is significantly worse {since_any}"
    label, metric = group_label(lines[0].group), plain(lines[0].metric)
    if since := rose and lines[0].worse_since:
        release = plain(since.release, LONGEST_NAME)
        if worse:
            return f"{label} is worse since {release} in {metric}{more}"
        return (
            f"{label}: harm in {metric} rose since {release}, {signed(since.before)} → "
            f"{_harm(_newest(lines[0]))} (not shown to be above 0){more}"
        )
    return (
        f"{label} is worse in {metric} by all releases together{more}; none is shown to have "
        f"become worse {since_any}"
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


def _answer_table(summary: TrendSummary) -> AnswerTable:
    """The harm of each group in the first and the newest release, in a block a metric."""
    blocks = []
    for metric in summary.metrics:
        rows = tuple(
            Row(
                group_label(line.group),
                (
                    *(_harm(line.points[at]) for at in (0, -1)),
                    _verdict(line.points[-1]),
                    _since(line, 20),
                ),
                "worse" if line in summary.worse and _is_worse(line) else None,
            )
            for line in summary.lines
            if line.metric == metric
        )
        more = f"{plural(len(rows), 'group')}, all on the page"
        blocks += [Block(plain(metric), rows, more, is_ranked=True)] if rows else []
    first, last = (plain(summary.releases[at].name, 14) for at in (0, -1))
    columns = ("group", f"harm {first}", f"harm {last}", "verdict", "harm rose at")
    return AnswerTable(columns, (False, True, True, False, False), tuple(blocks))


def lines_table(summary: TrendSummary) -> TableView:
    """All groups that are shown."""
    first, last = (plain(summary.releases[at].name, 20) for at in (0, -1))
    return TableView(
        title="Groups over releases",
        columns=(
            *("group", "metric", f"harm in {first}", f"harm in {last}"),
            *(f"verdict of {last}", "harm rose at", "by all releases"),
        ),
        numeric=(False, False, True, True, False, False, False),
        rows=tuple(
            (
                group_label(line.group),
                plain(line.metric),
                _harm(line.points[0]),
                _harm(line.points[-1]),
                _verdict(line.points[-1]),
                _since(line, LONGEST_NAME),
                f"worse by {number(line.together.harm)}" if line.together else "-",
            )
            for line in summary.lines
        ),
        note=(
            "Harm: difference from all others; positive is worse. All along: worse than all "
            "others by all releases together. Not significant does not mean equal."
        ),
    )


def line_table(line: TrendLine, summary: TrendSummary) -> TableView:
    """A group in each release."""
    rows = []
    for release, point in zip(summary.releases, line.points, strict=True):
        cells: tuple[str, ...] = ("-",) * 5
        if point is not None:
            ends = "-" if point.harm is None else signed_interval(*point.interval, point.harm)
            value = f"{point.support:,}", number(point.value)
            cells = (*value, _harm(point), ends, _verdict(point))
        rows.append((plain(release.name, LONGEST_NAME), *cells))
    many = summary.unit.many
    return TableView(
        title=f"{group_label(line.group)}, {plain(line.metric)}",
        columns=("release", many, "value", "harm", "interval, one at a time", "verdict"),
        numeric=(False, True, True, True, True, False),
        rows=tuple(rows),
    )


def _harm(point: TrendPoint | None) -> str:
    return "-" if point is None or point.harm is None else signed(point.harm)


def _verdict(point: TrendPoint | None) -> str:
    return "-" if point is None or point.outcome is None else point.outcome


def _since(line: TrendLine, longest: int) -> str:
    """The release since which the harm is higher; all along where all of them show a harm."""
    if line.worse_since is None:
        return "worse all along" if line.together else "-"
    back = " (not in the newest)" if line.worse_since.is_back else ""
    return f"{plain(line.worse_since.release, longest)}{back}"
