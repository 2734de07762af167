"""A comparison laid out: as text, as Markdown, as a page without any script, and as a card."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
from rich.console import Console
from rich.text import Text

from fairrec.comparison.result import ComparisonSummary
from fairrec.comparison.view import (
    GROUP_NUMERIC,
    ComparisonView,
    build_comparison_view,
    change_plots,
    changed_groups,
    group_cells,
    group_columns,
)
from fairrec.core.errors import plain
from fairrec.report.page.html import TONE, css_text, page_css, page_template, policy
from fairrec.report.text import TONE_STYLE, escape, rich_table, table_lines
from fairrec.report.words import TableView

ROWS_OF_TABLE = 1000
"""Groups in the tables of all metrics together."""


def comparison_page(summary: ComparisonSummary, changes: pl.DataFrame) -> str:
    """The page. Outside text is escaped, and no script may run.

    Parameters
    ----------
    changes : as in `changes.parquet`
    """
    from markupsafe import Markup

    view = build_comparison_view(summary)
    return page_template("comparison.html.j2").render(
        view=view,
        policy=policy(),
        css=Markup(page_css()),
        running_title=Markup(css_text(f"FairRec: {view.about[:100]}")),
        tone_class=TONE[view.tone],
        plots=change_plots(summary, changes),
        columns=group_columns(summary),
        tables=_tables(summary, changes),
    )


def _tables(summary: ComparisonSummary, changes: pl.DataFrame) -> list[TableView]:
    """The groups of each metric, those shown first."""
    most = max(1, ROWS_OF_TABLE // max(1, len(summary.metrics)))
    tables = []
    for name, metric in summary.metrics.items():
        groups = changed_groups(name, summary, changes, most)
        left_out = metric.n_groups - len(groups)
        tables.append(
            TableView(
                title=plain(name),
                columns=group_columns(summary),
                numeric=GROUP_NUMERIC,
                rows=tuple(group_cells(group, metric) for group in groups),
                note=f"and {left_out:,} more in changes.parquet" if left_out else "",
            )
        )
    return tables


def comparison_card(summary: ComparisonSummary) -> str:
    """What a notebook shows: the answer, the means and the groups that changed most."""
    view = build_comparison_view(summary)
    return page_template("comparison_card.html.j2").render(view=view)


def print_comparison(view: ComparisonView, console: Console) -> None:
    """Print what became of the groups, the answer first."""
    console.print(Text(view.headline, style=TONE_STYLE[view.tone]))
    for line in (view.about, view.how):
        console.print(Text(line, style="dim"))
    console.print()
    everyone, groups = replace(view.everyone, title=f"All {view.unit.many}"), view.groups
    # the page and Markdown have all columns
    for column in everyone.spare:
        everyone = everyone.without(column)
    for column in groups.spare:
        groups = groups.without(column)
    console.print(rich_table(everyone, console.width))
    for metric in view.metrics:
        console.print(Text.assemble((metric.metric, "bold"), ": ", " ".join(metric.said)))
    if groups.rows:
        console.print()
        console.print(rich_table(groups, console.width))
    for what, base, candidate in view.differences.rows:
        console.print(Text(f"also differs: {what} ({base} → {candidate})", style="dim"))
    for note in view.notes:
        console.print(Text.assemble(("note: ", "yellow"), note))


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
