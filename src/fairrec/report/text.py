"""The view as text: in a terminal, and as Markdown for a pull request, a wiki or a model card."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fairrec.core.errors import plain
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.report.findings import Served
from fairrec.report.overview import Overview
from fairrec.report.ratios import RatiosView
from fairrec.report.verdict import Tone, describe_parts
from fairrec.report.view import ReportView, build_view
from fairrec.report.words import TableView, percent, plural
from fairrec.result.schema import AuditSummary

_SERVED: dict[Served, str] = {"worse": "red", "better": "blue", "differs": ""}
TONE_STYLE: dict[Tone, str] = {"found": "bold red", "clear": "bold green", "open": "bold yellow"}


def print_text(view: ReportView, console: Console) -> None:
    """Print the view, the answer first. Outside text is never read as markup."""
    _print_head(view, console)
    _print_groups(view.overview, console)
    for verdict in view.verdicts:
        head = Text.assemble(
            "\n", (verdict.metric, "bold"), "  ", (verdict.status_said, TONE_STYLE[verdict.tone])
        )
        console.print(head)
        for sentence in describe_parts(verdict):
            if sentence:
                console.print(Padding(Text(sentence), (0, 0, 0, 2), expand=False))
    if view.findings.rows:
        console.print()
        console.print(rich_table(view.findings, console.width))
    for line in view.explained:
        console.print(Text(line))
    for carried in view.carried:
        console.print(Text(carried.sentence))
    if view.ends.rows:
        console.print()
        console.print(rich_table(view.ends, console.width))
    console.print()
    for line in filter(None, (view.ratios.below, *view.search, *view.coverage)):
        console.print(Text(line))
    for warning in view.warnings:
        console.print(Text.assemble(("note: ", "yellow"), warning))


def _print_head(view: ReportView, console: Console) -> None:
    """The answer, and what is to be known before any verdict."""
    console.print(Text(view.overview.headline, style=TONE_STYLE[view.overview.tone]))
    if view.overview.detail:
        console.print(Text(view.overview.detail))
    for line in filter(None, (view.called, view.title)):
        console.print(Text(line, style="dim"))
    for line in view.plan:
        console.print(Text(line))
    for line in view.checks:
        console.print(Text.assemble((CHECK_FIRST, "bold yellow"), line))
    for line in view.missing:
        console.print(Text.assemble(("missing: ", "yellow"), line))
    for line in view.circumstances:
        console.print(Text.assemble(("circumstances: ", "yellow"), line))


def _print_groups(view: Overview, console: Console) -> None:
    """A line for each group, what is ruled out, and what to do next."""
    if view.lines:
        console.print()
        table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
        for at, name in enumerate(view.columns):
            table.add_column(name, justify="right" if at == 1 else "left", overflow="fold")
        for line in view.lines:
            label, *cells = line.cells
            table.add_row(Text(label, style=_SERVED[line.served]), *map(Text, cells))
        console.print(table)
    if view.n_more:
        console.print(Text(f"and {plural(view.n_more, 'more group')} below"))
    if view.ruled_out:
        console.print(Text(f"Ruled out: {view.ruled_out}."))
    for step in view.next_steps:
        console.print(Text.assemble(("next: ", "dim"), step))


def rich_table(view: TableView, width: int) -> Table:
    """A table of the view, as wide as a terminal at most.

    Where words would be broken, columns that can be spared are left out, and it is said.
    """
    left_out: list[str] = []
    for column in view.spare:
        if _too_wide(_words(view), width) <= 0:
            break
        view = view.without(column)
        left_out.append(column)
    note = view.note
    if left_out:
        note = f"{note} Left out, for want of width: {', '.join(left_out)}.".strip()
    table = Table(
        title=Text(view.title, style="bold"),
        title_justify="left",
        caption=Text(note) if note else None,
        caption_justify="left",
    )
    for column, is_number, own in zip(
        view.columns, view.numeric, _widths(view, width), strict=True
    ):
        side: JustifyMethod = "right" if is_number else "left"
        table.add_column(column, justify=side, overflow="fold", width=own)
    for row in view.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _widths(view: TableView, width: int) -> Sequence[int | None]:
    """Of each column, so that no word is broken; left to the table where that cannot be."""
    widths = _words(view)
    room = -_too_wide(widths, width)
    if room < 0:
        return [None] * len(widths)
    texts = [max(map(cell_len, cells), default=0) for _, *cells in _by_column(view)]
    # what is short first, so that what room is left goes to the longest text
    for at in sorted(range(len(widths)), key=lambda at: texts[at]):
        more = min(room, max(0, texts[at] - widths[at]))
        widths[at] += more
        room -= more
    return widths


def _too_wide(widths: list[int], width: int) -> int:
    """By how much columns do not fit, with the lines between them."""
    return sum(widths) + 3 * len(widths) + 1 - width


def _words(view: TableView) -> list[int]:
    """The longest word of each column."""
    return [
        max((cell_len(word) for text in texts for word in text.split()), default=0)
        for texts in _by_column(view)
    ]


def _by_column(view: TableView) -> list[tuple[str, ...]]:
    return [*zip(view.columns, *view.rows, strict=True)]


_NOTHING = "<!-- -->"
"""Shown as nothing, and what is on both sides of it is not read as one."""
_MEANT = re.compile(
    r"""
    (?P<linked>
        (?<![0-9A-Za-z_])@(?=\w)        # somebody to notify
        | @(?=[\w.-]*\.\w)              # a mail address
        | :(?=//)                       # any scheme
        | www(?=\.)
        | \bGH-(?=\d) | \#(?=\d)        # an issue, even with a backslash before it
    )
    | (?P<first>^\d+(?=\.(?:\s|$)) | ^(?=[-=](?:[-=\s]|$)))   # a list or a rule
    | (?P<special>[\\`*_{}\[\]<>()#+!|~&$])
    """,
    re.IGNORECASE | re.VERBOSE,
)


def to_markdown(view: ReportView) -> str:
    """The view as Markdown, with every outside character that has a meaning there escaped."""
    lines = [
        "# FairRec audit",
        "",
        f"**{escape(view.overview.headline)}**",
        "",
        *([escape(view.overview.detail), ""] if view.overview.detail else []),
        *([escape(view.called), ""] if view.called else []),
        escape(view.title),
        "",
        *(
            f"{line}\n"
            for line in map(escape, (*view.plan, *view.checks, *view.missing, *view.circumstances))
        ),
        *_group_lines(view.overview),
        "| metric | verdict | |",
        "|---|---|---|",
    ]
    for verdict in view.verdicts:
        # how large a harm would have been shown stands below the tables
        said = " ".join(describe_parts(replace(verdict, power="")))
        lines.append(
            f"| {escape(verdict.metric)} | **{escape(verdict.status_said)}** | {escape(said)} |"
        )
    if view.findings.rows:
        lines += ["", f"### {escape(view.findings.title)}", "", *table_lines(view.findings)]
    lines += ["", *(f"- {escape(line)}" for line in view.explained)] if view.explained else []
    for carried in view.carried:
        lines += ["", escape(carried.sentence)]
        lines += ["", *table_lines(carried.neighbours)] if carried.neighbours.rows else []
    if view.ends.rows:
        lines += ["", f"### {escape(view.ends.title)}", "", *table_lines(view.ends)]
    lines += ratio_lines(view.ratios)
    lines += ["", *(f"- {escape(line)}" for line in (*view.search, *view.coverage))]
    powers = [f"- {escape(v.metric)}: {escape(v.power)}" for v in view.verdicts if v.power]
    lines += powers
    if view.warnings:
        lines += ["", "### Notes", "", *(f"- {escape(warning)}" for warning in view.warnings)]
    lines += ["", f"Reproduce: {escape(view.reproduce)}"]
    return "\n".join(lines) + "\n"


def _group_lines(view: Overview) -> list[str]:
    """A row for each group, what is ruled out, and what to do next."""
    lines = []
    if view.lines:
        numeric = (False, True, False, True, True, False)
        rows = tuple(line.cells for line in view.lines)
        more = f"and {view.n_more:,} more below" if view.n_more else ""
        lines += [*table_lines(TableView("", view.columns, numeric, rows, more)), ""]
    lines += [f"Ruled out: {escape(view.ruled_out)}.", ""] if view.ruled_out else []
    lines += [f"Next: {escape('; '.join(view.next_steps))}.", ""] if view.next_steps else []
    return lines


def ratio_lines(view: RatiosView) -> list[str]:
    """Ratios and inequality in lines of Markdown; none where there is nothing to show."""
    lines = ["", "### Ratios and inequality"]
    for text in filter(None, (view.below, *view.about)):
        lines += ["", escape(text)]
    for table in (view.table, view.inequality):
        if table.rows:
            lines += ["", f"#### {escape(table.title)}", "", *table_lines(table)]
    if view.notes:
        lines += ["", escape(" ".join(view.notes))]
    return lines if len(lines) > 2 else []


def escape(text: str) -> str:
    r"""Text on one line in which Markdown sees nothing special, and GitHub no link or mention.

    >>> print(escape("a|b <i> www.a.b"))
    a\|b \<i\> www<!-- -->.a.b
    """
    return _MEANT.sub(_as_text, " ".join(text.splitlines()).strip())


def _as_text(meant: re.Match[str]) -> str:
    """What has a meaning, so written that it has none."""
    if meant["special"]:
        return "\\" + meant["special"]
    if meant["linked"]:
        return meant["linked"].replace("#", "\\#") + _NOTHING
    return meant["first"] + "\\"


def table_lines(view: TableView) -> list[str]:
    """A table in lines of Markdown, its note below."""
    rules = ("---:" if is_number else "---" for is_number in view.numeric)
    rows = (" | ".join(escape(cell) for cell in row) for row in view.rows)
    note = ["", escape(view.note)] if view.note else []
    return [
        f"| {' | '.join(map(escape, view.columns))} |",
        f"|{'|'.join(rules)}|",
        *(f"| {row} |" for row in rows),
        *note,
    ]


HEADING = "## Fairness evaluation"
_MEASURES = (
    "What is measured here does not absolve: what is open is not ruled out, and groups and harms "
    "that were not looked at are not covered."
)


def model_card(summary: AuditSummary, about: str = "") -> str:
    """The section, without anything that a reader of the card cannot make sense of.

    Parameters
    ----------
    about : what else was done to the lists that were audited, in a sentence
    """
    view = build_view(summary)
    lines = [HEADING, "", f"**{escape(_sentence(view.overview.headline))}**", ""]
    if view.overview.detail:
        lines += [f"In detail: {escape(_sentence(view.overview.detail))}", ""]
    lines += [f"### {summary.unit.audited}", "", *_who(summary, view, about), ""]
    lines += ["### Verdict", "", *table_lines(_verdicts(view)), ""]
    if view.findings.rows:
        table = view.findings
        for column in table.spare:
            # its note is about this one
            table = table if column == "shrunken" else table.without(column)
        lines += [f"### {escape(table.title)}", "", *table_lines(table), ""]
    lines += _ratios(view)
    lines += ["### Limits", "", *_limits(summary, view), ""]
    lines += [f"Made by: {escape(view.reproduce)}"]
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    """With one full stop."""
    return f"{text.rstrip('.')}."


def _who(summary: AuditSummary, view: ReportView, about: str) -> list[str]:
    """Users, attributes and model in a list."""
    said = [f"Audited: {view.title}"]
    if view.called:
        said.append(f"Called: {view.called}")
    said += [about] if about else []
    seen = summary.coverage
    said.append(f"Smallest group looked at: {summary.unit.count(seen.min_users)}")
    unknown = [
        f"{plain(name)} of {summary.unit.count(one.n_missing)}"
        for name, one in summary.attributes.items()
        if one.n_missing
    ]
    said += [f"Not known: {', '.join(unknown)}"] if unknown else []
    said.append(f"Tolerance: {plain(summary.tolerance or 'not set')}")
    return [f"- {escape(line)}" for line in said]


def _verdicts(view: ReportView) -> TableView:
    """What each metric says, and what is ruled out."""
    return TableView(
        title="",
        columns=("metric", "verdict", "in words", "ruled out"),
        numeric=(False,) * 4,
        rows=tuple(
            (one.metric, one.status_said, one.headline, one.ruled_out or "nothing")
            for one in view.verdicts
        ),
    )


def _ratios(view: ReportView) -> list[str]:
    """Impact ratios, and what they are; nothing where there are none."""
    table = view.ratios.table
    if not table.rows:
        return []
    lines = ["### Impact ratios", "", *table_lines(table), ""]
    for text in (view.ratios.below, *view.ratios.about, " ".join(view.ratios.notes)):
        lines += [escape(text), ""] if text else []
    return lines


def _limits(summary: AuditSummary, view: ReportView) -> list[str]:
    """What a reader must not take from it."""
    level = percent(summary.alpha)
    tested = f"Groups and metrics are tested together: {level} risk of any false finding."
    said = [_MEASURES, *([tested] if summary.permutations else [])]
    said += [
        *view.checks,
        *view.missing,
        *view.circumstances,
        *view.search,
        *view.coverage,
        *view.plan,
        *view.warnings,
    ]
    return [f"- {escape(line)}" for line in said]
