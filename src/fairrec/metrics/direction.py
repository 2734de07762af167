"""Which end of a metric is the worse one."""

from __future__ import annotations

from typing import TypeVar

from fairrec.core.arrays import FloatArray

T = TypeVar("T", float, FloatArray)


def harm(difference: T, higher_is_better: bool | None) -> T:
    """A difference in the bad direction; its size where neither end is better.

    Positive is worse, so that the largest harm is the worst served group whatever the metric.

    >>> harm(-0.25, higher_is_better=True), harm(-0.25, higher_is_better=None)
    (0.25, 0.25)
    """
    if higher_is_better is None:
        return abs(difference)
    return -difference if higher_is_better else difference


def worse_ends(higher_is_better: bool | None) -> tuple[float, ...]:
    """The signs of the differences that are a harm; both where neither end is better.

    >>> worse_ends(True), worse_ends(False), worse_ends(None)
    ((-1.0,), (1.0,), (1.0, -1.0))
    """
    if higher_is_better is None:
        return 1.0, -1.0
    return (-1.0,) if higher_is_better else (1.0,)


def badness(values: T, higher_is_better: bool | None) -> T:
    """Values turned so that the largest is served worst; the lowest where neither end is better."""
    return values if higher_is_better is False else -values
