"""How much memory an audit may take, and refusing what needs more before work is begun."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import ceil, floor
from pathlib import Path

from fairrec.core.errors import InputError
from fairrec.core.kinds import LEAST_MEMORY
from fairrec.core.options import spelled

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
