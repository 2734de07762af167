"""The options about counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fairrec.core.audit_options import MinShown
from fairrec.core.options import OUTPUT, STATISTICS, TABLES, Option, Options, options

RESERVED_NAMES = ("family", "level", "users", "missing")
"""Columns of counts, which no attribute may be called."""


@options
class CountOptions(Options):
    """How users are counted."""

    part: Annotated[
        str,
        Option(
            "Names the users of these tables, such as europe; 3/16 where the tables hold the third "
            "of 16 parts by a hash of ids",
            TABLES,
        ),
    ] = ""
    levels: Annotated[
        Path | None,
        Option(
            "Where metrics without bounds are cut: a TOML file that all parts share", STATISTICS
        ),
    ] = None
    make_levels: Annotated[
        Path | None, Option("Write such a file, with levels that suit these users", OUTPUT)
    ] = None
    min_shown: MinShown = None
