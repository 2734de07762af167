"""A comparison as a page without any script, and as a card."""

from __future__ import annotations

from typing import Any

import polars as pl

from fairrec.comparison.result import ComparisonSummary, MetricComparison
from fairrec.comparison.words import (
    IS_GAINED,
    IS_LOST,
    build_comparison_view,
    changed_rows,
    choose_mark,
    group_cells,
    group_columns,
)
from fairrec.core.errors import plain
from fairrec.report.metric_words import direction
from fairrec.report.page.groups import ticks
from fairrec.report.page.html import TONE, card_html, css_text, page_css, page_template, policy
from fairrec.report.words import tick

ROWS_SHOWN = 60
"""Groups in the plot of a metric."""
_PADDING = 0.04


def comparison_page(summary: ComparisonSummary, changes: pl.DataFrame) -> str:
    """The page. Outside text is escaped, and no script may run.

    Parameters
    ----------
    changes : as in `changes.parquet`
    """
    from markupsafe import Markup

    view = build_comparison_view(summary, changes)
    return page_template("comparison.html.j2").render(
        view=view,
        unit=summary.unit,
        policy=policy(),
        css=Markup(page_css()),
        running_title=Markup(css_text(f"FairRec: {view.answer.about[0][:100]}")),
        tone_class=TONE[view.answer.tone],
        plots=[
            change_plot(name, metric, _shown_rows(name, changes))
            for name, metric in summary.metrics.items()
        ],
        columns=group_columns(summary),
    )


def comparison_card(summary: ComparisonSummary, changes: pl.DataFrame) -> str:
    """What a notebook shows: the answer."""
    return card_html(build_comparison_view(summary, changes).answer)


def _shown_rows(name: str, changes: pl.DataFrame) -> pl.DataFrame:
    """The groups that changed, then the largest of few attributes."""
    mine = changes.filter(pl.col("metric") == name)
    others = mine.filter(~IS_LOST & ~IS_GAINED)
    others = others.sort("depth", "support", descending=[False, True], maintain_order=True)
    return pl.concat([changed_rows(name, changes), others])


def change_plot(name: str, metric: MetricComparison, rows: pl.DataFrame) -> dict[str, Any]:
    """The first groups of one metric as text, and as places on a scale in percent."""
    shown = rows.head(ROWS_SHOWN)
    ends = shown.select("change", "simultaneous_low", "simultaneous_high")
    low = min(0.0, *ends.min().row(0)) if ends.drop_nulls().height else 0.0
    high = max(0.0, *ends.max().row(0)) if ends.drop_nulls().height else 0.0
    padding = _PADDING * (high - low) or 1.0
    low, high = low - padding, high + padding

    def place(value: float | None) -> float | None:
        return None if value is None else round(100 * (value - low) / (high - low), 2)

    limit = None
    if metric.tolerance is not None and metric.higher_is_better is not None:
        limit = -metric.tolerance if metric.higher_is_better else metric.tolerance
    return {
        "metric": plain(name),
        "called": plain(metric.called),
        "direction": direction(metric.higher_is_better),
        "ticks": [(place(at), tick(at)) for at in ticks(low, high)],
        "zero": place(0.0),
        "tolerance": place(limit) if limit is not None and low < limit < high else None,
        "rows": [
            {
                "cells": group_cells(row, metric),
                "mark": choose_mark(row["outcome"]),
                "at": place(row["change"]),
                "low": place(row["simultaneous_low"]),
                "high": place(row["simultaneous_high"]),
            }
            for row in shown.iter_rows(named=True)
        ],
        "n_more": rows.height - shown.height,
    }
