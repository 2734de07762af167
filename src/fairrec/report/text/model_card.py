"""An audit as a section of a model card, in Markdown."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.report.text.markdown import escape, table_lines
from fairrec.report.text.table_view import TableView
from fairrec.report.text.view import ReportView, build_view
from fairrec.report.words import percent
from fairrec.result.schema import AuditSummary

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
    said.append(f"What counts as a harm that matters: {plain(summary.matters or 'not said')}")
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
