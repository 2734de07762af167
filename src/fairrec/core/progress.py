"""How the stages of a long run are made known while it goes on."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Told the stage, the steps done and the steps in all (0 where they are not known)."""

EVERY = 10.0
"""Seconds between two lines within a stage."""


def stage_in_words(stage: str, done: int, total: int) -> str:
    """A stage and how far it is, on one line.

    >>> stage_in_words("testing against chance", 400, 1000), stage_in_words("reading", 0, 0)
    ('testing against chance: 40% of 1,000', 'reading')
    >>> stage_in_words("measuring 13,350,000 users", 2, 5)
    'measuring 13,350,000 users: 2 of 5'
    """
    if not total:
        return stage
    far = f"{done:,}" if total < 100 else f"{100 * done // total}%"
    return f"{stage}: {far} of {total:,}"


class ProgressLines:
    """A `Progress` that writes a line when a stage begins, and every so often within it.

    Parameters
    ----------
    write : gets the seconds since the beginning, and the line
    every : seconds between two lines within a stage
    """

    def __init__(self, write: Callable[[float, str], None], every: float = EVERY) -> None:
        self._write, self._every = write, every
        self._started = self._written = time.monotonic()
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Write a line, where it is time to."""
        # losses, rates and numbers of epochs in its name make no new stage
        kind, now = re.sub(r"[\d.,]+", "", stage), time.monotonic()
        if kind != self._stage or now - self._written >= self._every:
            self._stage, self._written = kind, now
            self._write(now - self._started, stage_in_words(stage, done, total))
