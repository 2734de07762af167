"""The page of a comparison."""

from __future__ import annotations

import polars as pl

from fairrec.result.comparison_schema import ComparisonSummary


def comparison_page(summary: ComparisonSummary, changes: pl.DataFrame) -> str:
    """The page."""
    return ""


def comparison_card(summary: ComparisonSummary) -> str:
    """What a notebook shows."""
    return ""
