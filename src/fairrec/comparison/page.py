"""A comparison laid out: as Markdown, as a page without any script, and as a card."""

from __future__ import annotations

import polars as pl

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
from fairrec.report.page.html import TONE, card_html, css_text, page_css, page_template, policy
from fairrec.report.text import write_markdown
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
        running_title=Markup(css_text(f"FairRec: {view.answer.about[0][:100]}")),
        tone_class=TONE[view.answer.tone],
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
    """What a notebook shows: the answer."""
    return card_html(build_comparison_view(summary).answer)


def comparison_markdown(view: ComparisonView) -> str:
    """A comparison as Markdown."""
    lines = tuple(f"{one.metric}: {one.status}. {' '.join(one.said)}" for one in view.metrics)
    return write_markdown("FairRec comparison", view.answer, lines, view.tables, view.reproduce)
