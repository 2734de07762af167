"""The lines of a text file, as the reader of its fields finds them."""

from __future__ import annotations

from pathlib import Path

import polars as pl


def scan_lines(
    source: Path | bytes, n_skipped: int = 0, n_lines: int | None = None, is_lossy: bool = True
) -> pl.LazyFrame:
    """One line a row in the column `line`; it unpacks files, and knows one line end.

    Parameters
    ----------
    n_skipped : lines before the first one that is wanted
    n_lines : at most; None for all
    is_lossy : whether bytes that are no UTF-8 are replaced, or refused
    """
    # no text holds a zero byte, so each line comes whole
    lines = pl.scan_csv(
        source,
        separator="\0",
        quote_char=None,
        has_header=False,
        schema={"line": pl.String},
        skip_lines=n_skipped,
        n_rows=n_lines,
        encoding="utf8-lossy" if is_lossy else "utf8",
        glob=False,
    )
    return lines.select(pl.col("line").str.strip_chars_end("\r").fill_null(""))
