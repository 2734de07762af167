"""What a file says of itself that cannot be true, above all of how large it is when unpacked.

A reader makes room for what a file promises. One damaged byte can promise more than any machine
has, and the process ends without a word of ours. What is refused is contradictory in itself; a file
that only says much in few bytes, such as a billion equal values, is not.
"""

from __future__ import annotations

# how many times its size something can have unpacked: twice what the format can do at the most
SNAPPY = 64
"""A copy of 64 bytes takes three."""
GZIP = 2064
"""A copy of 258 bytes takes two bits."""
LZ4 = 510
"""A byte makes a copy longer by 255."""
ZSTD = 1 << 16
"""A block of 128 KiB takes four bytes."""

_SMALL = 1 << 20
"""Bytes that there is always room for."""


class ContradictionError(ValueError):
    """What cannot be true of a file."""


def refuse_swollen(size: int, unpacked: int, times: int | None) -> None:
    """Refuse what is said to be larger unpacked than it can be.

    Parameters
    ----------
    times : how many times its size it can have; None where nothing is known
    """
    if times is not None and unpacked > max(_SMALL, times * size):
        raise ContradictionError(f"{size:,} bytes of it are said to be {unpacked:,} unpacked")
