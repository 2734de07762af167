"""Levels that tell too little: users who differ are on one of them, and tests cannot see it."""

from __future__ import annotations

import math

from fairrec.core.errors import plain
from fairrec.core.options import Blank, spelled
from fairrec.counts.families import LevelsError
from fairrec.metrics.measured import Column, Measured

ENOUGH, _LEAST = 0.95, 0.5
"""The share of a score that is left on levels: what is worth a note, and what is refused."""


def notes_on_levels(measured: Measured, where: str) -> list[str]:
    """What the reader should know of levels; an error where a test on them would be an all-clear.

    A score is the difference over the spread; on levels it loses as much as the spread does.
    """
    notes, on_levels = [], measured.on_levels
    for i, metric in enumerate(measured.metrics):
        whole, left = (_spread(one.column(i)) for one in (measured, on_levels))
        if whole == 0 or left >= ENOUGH * whole:
            continue
        name = plain(metric.name)
        told = (
            f"users on one level differ in '{name}': of its standard deviation {whole:.3g} its "
            f"levels keep {left / whole:.0%}"
        )
        how = (
            f"count with levels that suit it: {spelled('levels', Blank('FILE'))}, made by "
            f"{spelled('make_levels', Blank('FILE'))}"
        )
        if left < _LEAST * whole:
            raise LevelsError(f"{where}: {told}, too little to test groups by. To do so, {how}.")
        notes.append(f"{told}, so that tests find less than they could; {how}")
    return notes


def _spread(column: Column) -> float:
    """The standard deviation of all users."""
    around = (column.filled - column.mean) ** 2 * column.n + column.inner * (column.n > 0)
    return math.sqrt(float(around.sum()) / max(1.0, column.n_users))
