"""The options of an audit, and what may be done within its memory."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path
from typing import Annotated, Literal

from fairrec.core.errors import InputError
from fairrec.core.kinds import (
    LEAST_MEMORY,
    SWITCH,
    TEXT,
    memory_size,
    number,
    share,
    share_or_users,
    whole,
)
from fairrec.core.options import GROUPS, OUTPUT, STATISTICS, Option, Options, spelled
from fairrec.core.threads import available_threads
from fairrec.core.tolerance import Tolerance as Amounts
from fairrec.core.tolerance import tolerance as amounts
from fairrec.core.units import USERS, Unit

USUAL_SHARE, LEAST_USERS = 0.001, 10
"""The smallest group unless told otherwise. Fewer users than that are mostly noise, and tell what
single persons were shown."""


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
    return f"Lower {spelled('min_support')} ({spelled('min_support', 1)}: groups of any size)"


Depth = Annotated[
    int | Literal["full"],
    Option(
        whole(1).or_word("full"),
        "Every combination of up to so many attributes; 'full' for intersections of all alone",
        GROUPS,
    ),
]
MinSupport = Annotated[
    float | None,
    Option(
        share_or_users().or_none(),
        "Smallest group: a share of users (0.001, 1%), or a number from 1",
        GROUPS,
        default=smallest_group(None),
    ),
]
Top = Annotated[
    int,
    Option(
        whole(1, 1000),
        "How many of the best and of the worst served intersections of all attributes to name",
        GROUPS,
    ),
]
Permutations = Annotated[
    int,
    Option(
        whole(0, 10_000_000),
        "How often values are shuffled across users; 0 for no tests",
        STATISTICS,
    ),
]
# below it no number of permutations is enough, above it a finding is chance rather than not
Alpha = Annotated[float, Option(number(least=0.0001, most=0.5), "Significance level", STATISTICS)]
Tolerance = Annotated[
    Amounts | None,
    Option(
        amounts().or_none(),
        "The smallest harm worth acting on, set before looking",
        STATISTICS,
        default="none, so nothing is ruled out by it",
    ),
]
MaxUndefined = Annotated[
    float,
    Option(
        share(),
        "Above this share of users without a value or a list, a metric is inconclusive",
        STATISTICS,
    ),
]
Seed = Annotated[int, Option(whole(0, 2**32 - 1), "Same seed, same numbers", STATISTICS)]
Threads = Annotated[
    int | None, Option(whole(1).or_none(), "Threads to use", STATISTICS, default="all cores")
]
MaxMemory = Annotated[
    int | None,
    Option(
        memory_size().or_none(),
        "What is estimated to need more memory is refused before work is begun",
        STATISTICS,
        default="half of what the machine or its container has",
    ),
]


@dataclass(frozen=True)
class AuditOptions(Options):
    """How an audit is done."""

    depth: Depth = 3
    min_support: MinSupport = None
    permutations: Permutations = 1000
    alpha: Alpha = 0.05
    tolerance: Tolerance = None
    max_undefined: MaxUndefined = 0.05
    seed: Seed = 0
    threads: Threads = None
    max_memory: MaxMemory = None
    top: Top = 1

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
        """The most attributes combined; None for full combinations only."""
        return None if self.depth == "full" else self.depth

    @property
    def n_threads(self) -> int:
        """Threads to use."""
        return self.threads or available_threads()


Title = Annotated[str, Option(TEXT, "What the audit is called, at the head of its page", OUTPUT)]
ModelName = Annotated[str, Option(TEXT, "What the recommender is called", OUTPUT)]
Author = Annotated[str, Option(TEXT, "Who made the audit", OUTPUT)]
ModelVersion = Annotated[str, Option(TEXT, "The version of the recommender", OUTPUT)]


@dataclass(frozen=True)
class AboutOptions(Options):
    """What is audited, in the auditor's words; no number depends on it."""

    title: Title = ""
    model_name: ModelName = ""
    model_version: ModelVersion = ""
    author: Author = ""


MinShown = Annotated[
    int | None,
    Option(
        whole(1).or_none(),
        "Hide groups and values of fewer users in what is printed and written to be passed on",
        OUTPUT,
        default="none is hidden",
    ),
]
AggregatesOnly = Annotated[
    bool, Option(SWITCH, "Write no table of users, per_user.parquet", OUTPUT)
]


@dataclass(frozen=True)
class SharingOptions(Options):
    """What of an audit is passed on; the audit itself is the same."""

    min_shown: MinShown = None
    aggregates_only: AggregatesOnly = False


_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where a container says what it may take: control groups of version 2 and 1."""
_UNKNOWN = 8 * 10**9
"""Taken where a system does not tell."""


def memory_of_machine() -> int:
    """Bytes of the machine, or of the container this process is in, if that has fewer."""
    try:
        of_machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        of_machine = _UNKNOWN
    return min([of_machine, *(limit for limit in map(_limit, _LIMITS) if limit is not None)])


def _limit(file: str) -> int | None:
    try:
        return int(Path(file).read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max"
        return None


def most_memory(asked: int | None) -> int:
    """Bytes that may be taken: what was asked for, or half of what there is.

    In a small container, the least that can be asked for: half would be too little for any audit.
    """
    if asked is not None:
        return asked
    there = memory_of_machine()
    return max(there // 2, min(there, LEAST_MEMORY))


def in_gigabytes(n_bytes: float, rounded: Callable[[float], int] = ceil) -> str:
    """Bytes as they are said.

    >>> in_gigabytes(12_310_000_000), in_gigabytes(12_310_000_000, floor), in_gigabytes(2)
    ('12.4 GB', '12.3 GB', '0.1 GB')
    """
    return f"{rounded(n_bytes / 10**8) / 10:,.1f} GB"


def refuse_larger(n_bytes: float, asked: int | None, what: str, remedy: str) -> None:
    """Refuse what is estimated to need more memory than it may take.

    Parameters
    ----------
    asked : as the option says it; None for half of what there is
    what : what needs so much, the subject of a sentence about more than one
    remedy : what to change, a sentence without its end
    """
    most = most_memory(asked)
    if n_bytes <= most:
        return
    is_half = most <= memory_of_machine() // 2
    of_machine = "half of what there is" if is_half else "of what there is"
    limit = of_machine if asked is None else spelled("max_memory")
    needed = in_gigabytes(n_bytes)
    enough = needed.replace(" ", "").replace(",", "")
    allow = f", or allow more: {spelled('max_memory', enough)}"
    raise InputError(
        f"{what} need about {needed} of memory, and {in_gigabytes(most, floor)} may be used "
        f"({limit}). "
        f"{remedy}{allow if n_bytes <= memory_of_machine() else '.'}"
    )
