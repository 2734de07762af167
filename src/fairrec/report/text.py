"""The view as Markdown: for `--verbose`, a pull request, a wiki or a model card."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from fairrec.core.errors import plain
from fairrec.report.answer import Answer, AnswerTable
from fairrec.report.view import ReportView, build_view
from fairrec.report.words import TableView, percent
from fairrec.result.schema import AuditSummary

_NOTHING = "<!-- -->"
"""Shown as nothing, and what is on both sides of it is not read as one."""
_MOST_ROWS = 100
"""Rows of an attribute; of one with more values, those that are significant."""
_MEANT = re.compile(
    r"""
    (?P<linked>
        (?<![0-9A-Za-z_])@(?=\w)        # a user to notify
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
    lines = [*filter(None, (view.called,)), *view.search[1:], *view.coverage]
    tables = [table for table in (_verdicts(view), view.findings, view.ratios) if table.rows]
    return write_markdown("FairRec audit", view.answer, lines, tables, view.reproduce)


def _verdicts(view: ReportView) -> TableView:
    """The verdict of each metric, and what is ruled out."""
    rows = tuple(
        (one.metric, one.qualified_status, " ".join((one.headline, *one.details)), one.ruled_out)
        for one in view.verdicts
    )
    columns = ("metric", "verdict", "in words", "ruled out")
    return TableView("Verdicts", columns, (False,) * 4, rows)


def write_markdown(
    title: str,
    answer: Answer,
    lines: Sequence[str],
    tables: Sequence[TableView],
    reproduce: str = "",
) -> str:
    """An answer and what is behind it, as Markdown."""
    text = [f"# {title}", "", *answer_markdown(answer)]
    text += [*(f"- {escape(line)}" for line in lines), ""] if lines else []
    for table in tables:
        text += [f"### {escape(table.title)}", "", *table_lines(table), ""]
    # as code, in which nothing has a meaning
    code = [f"    {line}" for line in reproduce.splitlines()]
    text += ["Reproduce:", "", *code] if reproduce else []
    return "\n".join(text).rstrip() + "\n"


def answer_markdown(answer: Answer) -> list[str]:
    """All of an answer in lines of Markdown; the table has every row that it can have."""
    lines = [f"**{escape(answer.headline)}**", ""]
    lines += [line for text in answer.about for line in (escape(text), "")]
    if answer.notes:
        lines += [*(f"- {escape(f'{note.kind}: {note.text}')}" for note in answer.notes), ""]
    if answer.table is not None:
        lines += [*_answer_table(answer.table), ""]
    lines += [line for text in answer.sentences for line in (escape(text), "")]
    lines += [*(f"- {escape(text)}" for text in answer.others), ""] if answer.others else []
    lines += [line for step in answer.next_steps for line in (f"Next: {escape(step)}", "")]
    return lines


def _answer_table(table: AnswerTable) -> list[str]:
    """Rows by attribute, then a line about each attribute of too many values."""
    rows, shortened = [], []
    for block in table.blocks:
        is_whole = 0 < len(block.all_rows) <= _MOST_ROWS
        shown = block.all_rows if is_whole else block.rows
        rows += [(f"{block.name} {row.label}".strip(), *row.cells) for row in shown]
        if block.is_short and block.in_short and block.name and not is_whole:
            shortened.append(f"{block.name}: {block.in_short}")
    view = TableView("", table.columns, table.is_number, tuple(rows), ". ".join(shortened))
    return table_lines(view)


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
    "This audit covers only the groups and metrics listed. Inconclusive results do not rule out "
    "harm."
)


def model_card(summary: AuditSummary, groups: pl.DataFrame | None = None, about: str = "") -> str:
    """The section on an audit in a model card.

    Parameters
    ----------
    groups : the table of groups, for the numbers by group; None for words alone
    about : what else was done to the lists that were audited, in a sentence
    """
    view = build_view(summary, groups)
    lines = [HEADING, "", f"**{escape(view.answer.headline.rstrip('.'))}.**", ""]
    lines += [f"### Audited {summary.unit.many}", "", *_audited(summary, view, about), ""]
    if view.answer.table is not None:
        lines += ["### Groups", "", *_answer_table(view.answer.table), ""]
    for table in (_verdicts(view), view.findings, view.ratios):
        if table.rows:
            lines += [f"### {escape(table.title)}", "", *table_lines(table), ""]
    limits = [_MEASURES]
    if summary.permutations:
        risk = percent(summary.alpha)
        limits.append(f"Groups and metrics are tested together: {risk} risk of any false finding.")
    notes = (note.text for note in view.answer.notes)
    limits += [*notes, *view.search[1:], *view.coverage]
    lines += ["### Limits", "", *(f"- {escape(line)}" for line in limits), ""]
    return "\n".join([*lines, f"Made by: {escape(view.reproduce)}"]) + "\n"


def _audited(summary: AuditSummary, view: ReportView, about: str) -> list[str]:
    """Users, attributes and model in a list."""
    unknown = ", ".join(
        f"{plain(name)} of {summary.unit.count(one.n_missing)}"
        for name, one in summary.attributes.items()
        if one.n_missing
    )
    lines = (
        f"Audited: {view.title}",
        f"Called: {view.called}" if view.called else "",
        about,
        f"Minimum group size: {summary.unit.count(summary.coverage.min_users)}",
        f"Not known: {unknown}" if unknown else "",
        f"Tolerance: {plain(summary.tolerance or 'not set')}",
    )
    return [f"- {escape(line)}" for line in lines if line]
