"""The view as Markdown: for `--verbose`, a pull request, a wiki or a model card."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from fairrec.core.errors import plain
from fairrec.report.answer import Answer, AnswerTable, Block
from fairrec.report.ratios import RatiosView
from fairrec.report.verdict import describe_parts
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
    answer = view.answer
    lines = ["# FairRec audit", "", *answer_markdown(answer)]
    lines += [escape(view.called), ""] if view.called else []
    lines += ["### Verdicts", "", "| metric | verdict | |", "|---|---|---|"]
    for verdict in view.verdicts:
        # the power stands below the tables
        said = " ".join(describe_parts(replace(verdict, power="")))
        lines.append(
            f"| {escape(verdict.metric)} | **{escape(verdict.status_said)}** | {escape(said)} |"
        )
    if view.findings.rows:
        lines += ["", f"### {escape(view.findings.title)}", "", *table_lines(view.findings)]
    lines += ["", *(f"- {escape(line)}" for line in view.explained)] if view.explained else []
    if view.ends.rows:
        lines += ["", f"### {escape(view.ends.title)}", "", *table_lines(view.ends)]
    lines += ratio_lines(view.ratios)
    lines += ["", *(f"- {escape(line)}" for line in view.coverage)]
    lines += [f"- {escape(v.metric)}: {escape(v.power)}" for v in view.verdicts if v.power]
    lines += ["", f"Reproduce: {escape(view.reproduce)}"]
    return "\n".join(lines) + "\n"


def write_markdown(
    title: str,
    answer: Answer,
    lines: Sequence[str],
    tables: Sequence[TableView],
    reproduce: str = "",
) -> str:
    """An answer and what is behind it, as Markdown."""
    said = [f"# {title}", "", *answer_markdown(answer)]
    said += [*(f"- {escape(line)}" for line in lines), ""] if lines else []
    for table in tables:
        said += [f"### {escape(table.title)}", "", *table_lines(table), ""]
    said += [f"Reproduce: {escape(reproduce)}"] if reproduce else []
    return "\n".join(said).rstrip() + "\n"


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
    """Rows by attribute, then what is said of attributes of many values in a line each."""
    rows = tuple(
        (f"{block.name} {row.label}".strip(), *row.cells)
        for block in table.blocks
        for row in (block.all_rows if _is_told(block) else block.rows)
    )
    shortened = [
        f"{block.name}: {block.in_short}"
        for block in table.blocks
        if block.is_short and block.in_short and block.name and not _is_told(block)
    ]
    return table_lines(TableView("", table.columns, table.is_number, rows, ". ".join(shortened)))


def _is_told(block: Block) -> bool:
    """Whether all rows of a block that is short elsewhere are given here."""
    return 0 < len(block.all_rows) <= _MOST_ROWS


def ratio_lines(view: RatiosView) -> list[str]:
    """Ratios and inequality in lines of Markdown; none where there is nothing to show."""
    lines = ["", "### Ratios and inequality"]
    for text in filter(None, (view.below, *view.about)):
        lines += ["", escape(text)]
    if view.table.rows:
        lines += ["", f"#### {escape(view.table.title)}", "", *table_lines(view.table)]
    for text in filter(None, (view.gini, " ".join(view.notes))):
        lines += ["", escape(text)]
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


def model_card(summary: AuditSummary, groups: pl.DataFrame | None = None, about: str = "") -> str:
    """The section, without anything that a reader of the card cannot make sense of.

    Parameters
    ----------
    groups : the table of groups, for the numbers by group; None for words alone
    about : what else was done to the lists that were audited, in a sentence
    """
    view = build_view(summary, groups)
    lines = [HEADING, "", f"**{escape(_sentence(view.answer.headline))}**", ""]
    lines += [f"### {summary.unit.audited}", "", *_who(summary, view, about), ""]
    lines += ["### Verdict", "", *table_lines(_verdicts(view)), ""]
    if view.answer.table is not None:
        lines += ["### Groups", "", *_answer_table(view.answer.table), ""]
    if view.findings.rows:
        lines += [f"### {escape(view.findings.title)}", "", *table_lines(view.findings), ""]
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
        *view.covariates,
        *view.search,
        *view.coverage,
        *view.plan,
        *view.warnings,
    ]
    return [f"- {escape(line)}" for line in said]
