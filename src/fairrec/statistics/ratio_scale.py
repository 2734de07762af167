"""Whether the values of a metric can be compared by ratios."""

from __future__ import annotations

from typing import Literal

from fairrec.core.arrays import FloatArray
from fairrec.groups.cells import Cells
from fairrec.metrics.measured import Column

WhyNot = Literal[
    "not everyone is scored",
    "nobody has a value",
    "some values are negative",
    "everyone has 0",
    "neither end is better",
    "lower is better",
    "it is no mean over users",
    "items compete for places",
]


def why_no_ratio(known: FloatArray, is_complete: bool) -> WhyNot | None:
    """Why values have no ratios; None where they have.

    Parameters
    ----------
    known : the values of the users who have one
    is_complete : whether everyone is scored
    """
    if not is_complete:
        return "not everyone is scored"
    if not len(known):
        return "nobody has a value"
    if known.min() < 0:
        return "some values are negative"
    return "everyone has 0" if known.max() == 0 else None


def count_and_sum(column: Column, cells: Cells) -> tuple[FloatArray, FloatArray]:
    """(n_cells,) each, users with a value and the sum of their values."""
    return cells.sums(column.n), cells.sums(column.filled * column.n)
