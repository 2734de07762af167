"""The options about counts, and about who works on the parts of large tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from fairrec.core.errors import InputError
from fairrec.core.kinds import FILE, FOLDER, SWITCH, TEXT, Kind, one_of, whole
from fairrec.core.options import ENGINE, OUTPUT, STATISTICS, TABLES, Option, Options, spelled


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
        "Names the users of these tables, such as europe; 3/16 where the tables hold the third of "
        "16 parts by a hash of ids",
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


EngineName = Annotated[
    Literal["local", "ray"],
    Option(
        one_of("local", "ray"),
        "What works on the parts of a large table. local: this process; ray: the workers of Ray, "
        "which need the same packages and reach the files by the same names",
        ENGINE,
    ),
]
Address = Annotated[
    str | None,
    Option(
        TEXT.or_none(),
        "The Ray cluster: HOST:6379, or 'auto' for the one that this machine is a node of",
        ENGINE,
        default="RAY_ADDRESS where it is set, else workers are started on this machine",
    ),
]
Workers = Annotated[
    int | None,
    Option(
        whole(1).or_none(),
        "Parts that are worked on at once; each needs memory of its own",
        ENGINE,
        default="local: one, with all threads; ray: one for each CPU of the cluster",
    ),
]
Scratch = Annotated[
    Path | None,
    Option(
        FOLDER.or_none(),
        "Folder for what parts need on disk until the end; workers on other machines must reach it",
        ENGINE,
        default="the system's folder for such files",
    ),
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


@dataclass(frozen=True)
class EngineOptions(Options):
    """Where the work is done; no number depends on it."""

    engine: EngineName = "local"
    address: Address = None
    workers: Workers = None
    scratch: Scratch = None

    def check(self) -> None:
        """Refuse an address that nothing would be sent to."""
        if self.address is not None and self.engine != "ray":
            raise InputError(
                f"{spelled('address', self.address)} is the address of a Ray cluster. "
                f"Add {spelled('engine', 'ray')}, or leave it out."
            )
