"""The options of an audit, and the memory it may use."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from fairrec.core.audited_entity import USERS, Unit
from fairrec.core.errors import InputError
from fairrec.core.option_types import (
    Folder,
    MemorySize,
    Number,
    Share,
    Support,
    Switch,
    Whole,
)
from fairrec.core.options import (
    ENGINE,
    GROUPS,
    OUTPUT,
    STATISTICS,
    Option,
    Options,
    grouped,
    options,
    spell,
)
from fairrec.core.progress import Progress
from fairrec.core.threads import available_threads
from fairrec.core.tolerance import ToleranceType

USUAL_SHARE, LEAST_USERS = 0.001, 10
"""The smallest group by default. Fewer users than that are mostly noise, and reveal what single
persons were shown."""


def smallest_group(min_support: float | None, unit: Unit = USERS) -> str:
    """How large a group must be, in words.

    >>> smallest_group(None), smallest_group(0.001), smallest_group(50)
    ('0.1% of users, at least 10', '0.1% of users', '50 users')
    """
    if min_support is None:
        return f"{smallest_group(USUAL_SHARE, unit)}, at least {LEAST_USERS}"
    if min_support >= 1:
        return unit.count(round(min_support))
    return f"{100 * min_support:.12g}% of {unit.many}"


def take_smaller_groups() -> str:
    """What to do where no group is large enough."""
    return f"Lower {spell('min_support')} ({spell('min_support', 1)}: groups of any size)"


# below it no number of permutations is enough, above it a finding is chance rather than not
Alpha = Annotated[Number, Field(ge=0.0001, le=0.5), Option("Significance level", STATISTICS)]
"""The option of all that tests."""


@grouped("statistics")
@options
class Statistics(Options):
    """How groups are tested."""

    permutations: Annotated[
        Whole,
        Field(ge=0, le=10_000_000),
        Option("Number of permutations; 0 disables tests", STATISTICS),
    ] = 1000
    alpha: Alpha = 0.05
    max_undefined: Annotated[
        Share,
        Field(ge=0, le=1),
        Option(
            "Above this share of users without a value or a list, a metric is inconclusive",
            STATISTICS,
        ),
    ] = 0.05
    top: Annotated[
        Whole,
        Field(ge=1, le=1000),
        Option(
            "How many of the best and of the worst served intersections of all attributes to name",
            GROUPS,
        ),
    ] = 1


RAY = ("engine", "address", "workers", "scratch")
"""Those of the options of an engine that are about tables read in parts."""
Threads = Annotated[
    Annotated[Whole, Field(ge=1)] | None,
    Option("Threads to use", ENGINE, default="all cores"),
]


@grouped("engine")
@options
class Engine(Options):
    """How the work is done; no number depends on it.

    Parameters
    ----------
    progress : called with stage, steps done and steps in all
    """

    engine: Annotated[
        Literal["local", "ray"],
        Option(
            "What works on the parts of a large table. local: this process; ray: the workers of "
            "Ray, which need the same packages and reach the files by the same names",
            ENGINE,
        ),
    ] = "local"
    address: Annotated[
        str | None,
        Option(
            "The Ray cluster: HOST:6379, or 'auto' for the one that this machine is a node of",
            ENGINE,
            default="RAY_ADDRESS where it is set, else workers are started on this machine",
        ),
    ] = None
    workers: Annotated[
        Annotated[Whole, Field(ge=1)] | None,
        Option(
            "Parts that are worked on at once; each needs memory of its own",
            ENGINE,
            default="local: one, with all threads; ray: one for each CPU of the cluster",
        ),
    ] = None
    scratch: Annotated[
        Folder | None,
        Option(
            "Folder for what parts need on disk until the end; workers on other machines must "
            "reach it",
            ENGINE,
            default="the system's folder for such files",
        ),
    ] = None
    threads: Threads = None
    max_memory: Annotated[
        MemorySize | None,
        Option(
            "What is estimated to need more memory is refused before work is begun",
            ENGINE,
            default="half of what the machine or its container has",
        ),
    ] = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.address is not None and self.engine != "ray":
            raise InputError(
                f"{spell('address', self.address)} is the address of a Ray cluster. "
                f"Add {spell('engine', 'ray')}, or leave it out."
            )

    @property
    def n_threads(self) -> int:
        """Threads to use."""
        return self.threads or available_threads()

    def report(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Report how far the work is."""
        if self.progress is not None:
            self.progress(stage, done, total)


Seed = Annotated[
    Whole,
    Field(ge=0, le=2**32 - 1),
    Option("Random seed: the same seed gives the same numbers", STATISTICS),
]
"""The option of all that draws at random."""


@options
class AuditOptions(Statistics):
    """How an audit is done."""

    depth: Annotated[
        Annotated[Whole, Field(ge=1)] | Literal["full"],
        Option(
            "Largest number of attributes combined; 'full' for intersections of all of them alone",
            GROUPS,
        ),
    ] = 3
    min_support: Annotated[
        Support | None,
        Option(
            "Smallest group: a share of users (0.001, 1%), or a number from 1",
            GROUPS,
            default=smallest_group(None),
        ),
    ] = None
    tolerance: Annotated[
        ToleranceType | None,
        Option(
            "Largest acceptable harm, fixed in advance",
            STATISTICS,
            default="none, so that no group can be within tolerance",
        ),
    ] = None
    seed: Seed = 0
    engine: Engine = Engine()

    def min_users(self, n_users: int) -> int:
        """The smallest number of users a group must have.

        >>> AuditOptions().min_users(6038), AuditOptions(min_support=0.001).min_users(6038)
        (10, 7)
        """
        least = LEAST_USERS if self.min_support is None else 1
        support = USUAL_SHARE if self.min_support is None else self.min_support
        if support >= 1:
            return int(support)
        # 0.001 * 267,000 is a hair above 267 in binary
        return max(least, math.ceil(support * n_users - 1e-9))

    @property
    def lattice_depth(self) -> int | None:
        """The most attributes combined; None for full intersections only."""
        return None if self.depth == "full" else self.depth

    @property
    def n_threads(self) -> int:
        """Threads to use."""
        return self.engine.n_threads

    @property
    def max_memory(self) -> int | None:
        """Bytes that may be used; None for half of what there is."""
        return self.engine.max_memory


@grouped("about")
@options
class About(Options):
    """What an audit is called and where its options come from; no number depends on it.

    Parameters
    ----------
    settings : a settings file, such as `fairrec.toml`; what is given or planned holds before it
    command : how to run this again, kept in the result: in full in `run.json`, without the
        auditor's folders elsewhere
    """

    title: Annotated[str, Option("What the audit is called, at the head of its page", OUTPUT)] = ""
    model_name: Annotated[str, Option("What the recommender is called", OUTPUT)] = ""
    model_version: Annotated[str, Option("The version of the recommender", OUTPUT)] = ""
    author: Annotated[str, Option("Who made the audit", OUTPUT)] = ""
    settings: str | Path | None = None
    command: str | None = None


MinShown = Annotated[
    Annotated[Whole, Field(ge=1)] | None,
    Option(
        "Hide groups and values of fewer users in what is printed and written to be passed on",
        OUTPUT,
        default="none is hidden",
    ),
]


@options
class SharingOptions(Options):
    """What of an audit is passed on; the audit itself is the same."""

    min_shown: MinShown = None
    aggregates_only: Annotated[
        Switch, Option("Write no table of users, per_user.parquet", OUTPUT)
    ] = False


_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""Where a container says what it may use."""


def memory_of_machine() -> int:
    """Bytes of the machine, or of the container this process is in, if that has fewer."""
    found = []
    with suppress(OSError, ValueError):  # no such file, or "max"
        found.append(int(_LIMIT.read_text(encoding="ascii")))
    with suppress(AttributeError, ValueError, OSError):  # not on every system
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found, default=8 * 10**9)


def most_memory(limit: int | None) -> int:
    """Bytes that may be used: the limit, or half of what there is."""
    return memory_of_machine() // 2 if limit is None else limit


def refuse_larger(n_bytes: float, limit: int | None, what: str, remedy: str) -> None:
    """Refuse what is estimated to need more memory than it may use.

    Parameters
    ----------
    limit : as the option gives it; None for half of what there is
    what : what needs so much, the subject of a sentence about more than one
    remedy : what to change, a sentence without its end
    """
    most = most_memory(limit)
    if n_bytes > most:
        needed, usable = math.ceil(n_bytes / 10**8) / 10, math.floor(most / 10**8) / 10
        why = "half of what there is" if limit is None else spell("max_memory")
        raise InputError(
            f"{what} need about {needed:,.1f} GB of memory, and {usable:,.1f} GB may be used "
            f"({why}). {remedy}, or allow more: {spell('max_memory', f'{needed:.1f}GB')}"
        )
