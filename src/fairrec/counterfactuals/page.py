"""The page of a counterfactual: what changes for all users, then the audit of the changes."""

from __future__ import annotations

import polars as pl

from fairrec.counterfactuals.result import CounterfactualSummary
from fairrec.counterfactuals.words import changes_table, counterfactual_view, headline
from fairrec.report.page.html import page_html, page_template
from fairrec.report.page.view import PageSection
from fairrec.result.folder import AuditRun
from fairrec.result.schema import AuditSummary


def counterfactual_page(
    counterfactual: CounterfactualSummary,
    summary: AuditSummary,
    groups: pl.DataFrame,
    group_file: str = "groups.parquet",
    run: AuditRun | None = None,
) -> str:
    """The page of the audit of changes, after what changes for all users.

    Parameters
    ----------
    summary, groups, group_file, run : as of `page_html`
    """
    is_found = any(result.findings for result in summary.metrics.values())
    table = changes_table(counterfactual)
    section = PageSection(
        kind="counterfactual",
        anchor="changes",
        title="What changes",
        headline=headline(counterfactual),
        html=page_template("changes.html.j2").render(tables=[table], is_found=is_found),
        words=counterfactual_view(counterfactual, summary, groups),
    )
    return page_html(summary, groups, group_file, run, section)
