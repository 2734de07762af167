"""How the stages of a long run are made known while it goes on."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self

Progress = Callable[[str, int, int], None]
"""Told the stage, the steps done and the steps in all (0 where they are not known)."""

EVERY = 10.0
"""Seconds between two lines within a stage."""
_UNITS = {
    "scoring as they are": "users",
    "scoring with": "users",
    "scoring by": "users",
    "scoring": "pairs",
    "measuring and counting": "rows",
    "looking for borders": "rows",
    "dealing out": "rows",
    "measuring": "metrics",
    "searching with": "users",
    "benchmarking": "searches",
    "testing against chance": "permutations",
    "tuning the strength": "strengths",
    "epoch": "batches",
}
"""What the steps of a stage are, by how its name begins."""
_FEW_STEPS = 100


def stage_in_words(stage: str, done: int, total: int) -> str:
    """A stage and how far it is, on one line.

    >>> stage_in_words("testing against chance", 400, 1000), stage_in_words("reading", 0, 0)
    ('testing against chance: 40% of 1,000 permutations', 'reading')
    >>> stage_in_words("measuring 13,350,000 users", 2, 5)
    'measuring 13,350,000 users: 2 of 5 metrics'
    >>> stage_in_words("scoring with gender=F", 30, 1200), stage_in_words("scoring", 30, 1200)
    ('scoring with gender=F: 2% of 1,200 users', 'scoring: 2% of 1,200 pairs')
    >>> stage_in_words("measuring and counting", 50_000_000, 100_000_000)
    'measuring and counting: 50% of 100,000,000 rows'
    """
    if not total:
        return stage
    unit = next((f" {unit}" for begin, unit in _UNITS.items() if stage.startswith(begin)), "")
    far = f"{done:,}" if total < _FEW_STEPS else f"{100 * done // total}%"
    return f"{stage}: {far} of {total:,}{unit}"


class ProgressLines:
    """A `Progress` that writes a line when a stage begins, and every so often within it.

    Lines come from a thread of its own too, because a stage may say nothing for minutes.

    Parameters
    ----------
    write : gets the seconds since the beginning, and the line
    every : seconds between two lines within a stage
    """

    def __init__(self, write: Callable[[float, str], None], every: float = EVERY) -> None:
        self._write, self._every = write, every
        self._lock, self._is_over = Lock(), Event()
        self._started = self._written = time.monotonic()
        self._stage = self._line = ""
        self._ticker = Thread(target=self._tick, name="progress", daemon=True)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Say how far it is, where it is time to."""
        # losses, rates and numbers of epochs in its name make no new stage
        kind = re.sub(r"[\d.,]+", "", stage)
        with self._lock:
            is_new = kind != self._stage
            self._stage, self._line = kind, stage_in_words(stage, done, total)
            if is_new:
                self._say()

    def __enter__(self) -> Self:
        self._ticker.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._ticker.join()

    def _say(self) -> None:
        self._written = time.monotonic()
        self._write(self._written - self._started, self._line)

    def _tick(self) -> None:
        wait = self._every
        while not self._is_over.wait(wait):
            with self._lock:
                due = self._written + self._every - time.monotonic()
                if due <= 0 and self._line:
                    self._say()
                wait = due if due > 0 else self._every
