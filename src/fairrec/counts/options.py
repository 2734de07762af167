"""The options about counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fairrec.core.kinds import FILE, SWITCH, TEXT, Kind
from fairrec.core.options import OUTPUT, STATISTICS, TABLES, Option, Options


def _sources(given: Any) -> tuple[Any, ...]:
    """Files, or counts in memory."""
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    return tuple(Path(one) if isinstance(one, str) else one for one in several)


CountsFiles = Annotated[
    Any,
    Option(
        Kind(
            _sources,
            "a path or counts, or several",
            "FILE",
            is_list=True,
            is_split=False,
            is_path=True,
        ),
        "Counts by fairrec count, instead of tables; may be repeated for counts of other users",
        TABLES,
    ),
]
Disjoint = Annotated[
    bool,
    Option(
        SWITCH, "No user is in two of the counts, although they do not say whose they are", TABLES
    ),
]
PartName = Annotated[
    str,
    Option(
        TEXT,
        "Whose counts these are: a name such as europe, or 3/16 of 16 parts by a hash of ids",
        TABLES,
    ),
]
LevelsFile = Annotated[
    Path | None,
    Option(
        FILE.or_none(),
        "Where metrics without bounds are cut: a TOML file that all parts share",
        STATISTICS,
    ),
]
MakeLevels = Annotated[
    Path | None,
    Option(FILE.or_none(), "Write such a file, with levels that suit these users", OUTPUT),
]


RESERVED_NAMES = ("family", "level", "users", "missing")
"""Columns of counts, which no attribute may be called."""


@dataclass(frozen=True)
class CountsOptions(Options):
    """Counts that are audited."""

    counts: CountsFiles = ()
    disjoint: Disjoint = False


@dataclass(frozen=True)
class CountOptions(Options):
    """How users are counted."""

    part: PartName = ""
    levels: LevelsFile = None
    make_levels: MakeLevels = None
