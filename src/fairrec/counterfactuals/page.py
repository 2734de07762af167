"""The page of a counterfactual: what changes for all users, then the audit of the changes."""

from __future__ import annotations

import polars as pl

from fairrec.counterfactuals.result import CounterfactualSummary
from fairrec.counterfactuals.words import changes_table, counterfactual_answer
from fairrec.report.page.audit import page_html
from fairrec.report.page.html import Section
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
    note = (
        "Groups that differ, below, change more or less than others do."
        if is_found
        else "No group is shown to change more than others do."
    )
    section = Section(
        "changes",
        "What changes, on average",
        tables=(changes_table(counterfactual),),
        notes=(note,),
    )
    return page_html(
        summary,
        groups,
        group_file,
        run,
        kind="counterfactual",
        answer=counterfactual_answer(counterfactual, summary, groups),
        lead=(section,),
    )
