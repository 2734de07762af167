"""What a notebook shows of a result: the answer and the findings, without script or request."""

from __future__ import annotations

from fairrec.report.page.html import page_template
from fairrec.report.text.view import build_view
from fairrec.result.schema import AuditSummary


def card_html(summary: AuditSummary) -> str:
    """A part of a page that brings what it needs; outside text is escaped."""
    view = build_view(summary)
    return page_template("card.html.j2").render(
        answer=view.overview,
        about=[*filter(None, (view.called, view.title))],
        first=(*view.plan, *view.checks, *view.missing, *view.circumstances),
        findings=view.findings,
    )
