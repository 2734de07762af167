"""The view as Markdown: for a pull request, a wiki or a model card."""

from __future__ import annotations

import re
from dataclasses import replace

from fairrec.comparison.view import ComparisonView
from fairrec.core.errors import plain
from fairrec.mitigation.view import MitigationView
from fairrec.report.text.overview import Overview
from fairrec.report.text.ratios import RatiosView
from fairrec.report.text.verdict import said_of
from fairrec.report.text.view import ReportView, build_view
from fairrec.report.words import TableView, percent
from fairrec.result.schema import AuditSummary

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
        said = " ".join(said_of(replace(verdict, power="")))
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


def mitigation_markdown(view: MitigationView) -> str:
    """A mitigation as Markdown."""
    lines = ["# FairRec mitigation", "", f"**{escape(view.headline)}**"]
    for text in (*view.stamps, *view.said):
        lines += ["", escape(text)]
    for table in view.tables:
        lines += ["", f"### {escape(table.title)}", "", *table_lines(table)]
    if view.notes:
        lines += ["", "### Notes", "", *(f"- {escape(note)}" for note in view.notes)]
    lines += ["", f"Reproduce: {escape(view.reproduce)}"]
    return "\n".join(lines) + "\n"


def comparison_markdown(view: ComparisonView) -> str:
    """A comparison as Markdown."""
    lines = ["# FairRec comparison", "", f"**{escape(view.headline)}**"]
    for text in (view.about, view.how):
        lines += ["", escape(text)]
    lines += ["", "| metric | verdict | |", "|---|---|---|"]
    for metric in view.metrics:
        said = escape(" ".join(metric.said))
        lines.append(f"| {escape(metric.metric)} | **{metric.status}** | {said} |")
    for table in view.tables:
        lines += ["", f"### {escape(table.title)}", "", *table_lines(table)]
    if view.notes:
        lines += ["", "### Notes", "", *(f"- {escape(note)}" for note in view.notes)]
    lines += ["", f"Reproduce: {escape(view.reproduce)}"]
    return "\n".join(lines) + "\n"


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
    said.append(f"What counts as a harm that matters: {plain(summary.tolerance or 'not said')}")
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
