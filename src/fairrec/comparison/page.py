"""A comparison as a page, and as a card."""

from __future__ import annotations

import polars as pl

from fairrec.comparison.result import ComparisonSummary
from fairrec.comparison.words import (
    IS_GAINED,
    IS_LOST,
    build_comparison_view,
    changed_rows,
    describe_loss,
    find_direction,
    group_cells,
)
from fairrec.core.errors import plain
from fairrec.report.page.dots import DotPlot, DotRow, about_metric
from fairrec.report.page.html import Section, card_html, write_page
from fairrec.report.words import TableView, plural

ROWS_SHOWN = 60
"""Groups in the plot of a metric."""


def comparison_page(summary: ComparisonSummary, changes: pl.DataFrame) -> str:
    """The page of a comparison.

    Parameters
    ----------
    changes : as in `changes.parquet`
    """
    view = build_comparison_view(summary, changes)
    verdicts = TableView(
        "Verdict for each metric",
        ("metric", "verdict", "evidence"),
        (False, False, False),
        tuple((name, first, " ".join(rest)) for name, (first, *rest) in view.metrics.items()),
    )
    n_more = sum(max(0, metric.n_groups - ROWS_SHOWN) for metric in summary.metrics.values())
    notes = [
        "Change, and against others: the change minus that of all others, each with its "
        "simultaneous interval. Orange lost, blue gained, hollow is not significant; the dotted "
        "line is the tolerance. Groups that lost, or are behind all others, come first, then "
        "those that gained, then the largest of few attributes."
    ]
    if n_more:
        notes.append(f"{plural(n_more, 'row')} more in changes.parquet.")
    sections = [
        Section("metrics", "Metrics", tables=(verdicts, view.everyone)),
        Section(
            "changes",
            "How groups changed",
            dots=[change_plot(name, summary, changes) for name in summary.metrics],
            notes=notes,
        ),
        Section(
            "data",
            "Data and what was not compared",
            sentences=view.answer.about[1:],
            warnings=[note.text for note in view.answer.notes if note.kind == "note"],
            tables=(view.differences,),
        ),
        Section("reproduce", "Reproduce", command=view.reproduce),
    ]
    return write_page("comparison", view.answer, sections, title=view.answer.about[0])


def comparison_card(summary: ComparisonSummary, changes: pl.DataFrame) -> str:
    """What a notebook shows: the answer."""
    return card_html(build_comparison_view(summary, changes).answer)


def change_plot(name: str, summary: ComparisonSummary, changes: pl.DataFrame) -> DotPlot:
    """The groups of a metric: those that changed, then the largest of few attributes."""
    metric = summary.metrics[name]
    others = changes.filter(~IS_LOST & ~IS_GAINED, metric=name)
    others = others.sort("depth", "support", descending=[False, True], maintain_order=True)
    shown = pl.concat([changed_rows(name, changes), others]).head(ROWS_SHOWN)
    limit = None
    if metric.tolerance is not None and metric.higher_is_better is not None:
        limit = -metric.tolerance if metric.higher_is_better else metric.tolerance
    rows = []
    for row in shown.iter_rows(named=True):
        label, size, before, after, change, interval, gap, its_interval, verdict = group_cells(
            row, metric
        )
        rows.append(
            DotRow(
                label=label,
                before=(size,),
                after=((f"{before} → {after}", ""), (change, interval), (gap, its_interval)),
                verdict=verdict,
                tone=find_direction(row["outcome"]) or "within",
                value=row["change"],
                low=row["simultaneous_low"],
                high=row["simultaneous_high"],
            )
        )
    return DotPlot(
        metric=plain(name),
        about=about_metric(metric.called, metric.higher_is_better),
        before=(summary.unit.many,),
        after=("before → after", "change", "against others"),
        rows=tuple(rows),
        status=describe_loss(metric.outcome, metric.tolerance),
        limit=limit,
    )
