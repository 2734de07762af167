"""Text in CSV files that a spreadsheet would run as a formula."""

from __future__ import annotations

import polars as pl

_FORMULA = r"^[=+\-@\t\r]"
_NO_FORMULA = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]$"
"""A number, or a sign alone: what stands for no value in many tables."""
_AS_TEXT = "'"


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before each text and name that would be run; numbers stay.

    A spreadsheet shows such a cell as the text after the apostrophe.
    """
    texts = table.select(pl.col(pl.String, pl.Categorical, pl.Enum)).columns
    safe = table.with_columns(map(_quoted, (table[name].cast(pl.String) for name in texts)))
    safe.columns = _quoted(pl.Series(table.columns, dtype=pl.String)).to_list()
    return safe


def _quoted(texts: pl.Series) -> pl.Series:
    is_run = texts.str.contains(_FORMULA) & ~texts.str.contains(_NO_FORMULA)
    return (_AS_TEXT + texts).zip_with(is_run.fill_null(False), texts).alias(texts.name)
