"""What a draw gives to cells."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from fairrec.core.arrays import FloatArray


class CellSums(NamedTuple):
    """What a draw gives each cell; (n_metrics, n_cells) each.

    Parameters
    ----------
    n : users a value was drawn for
    total, squares : sums of their values and of the squares of these
    """

    n: FloatArray
    total: FloatArray
    squares: FloatArray


class Draws(Protocol):
    """Numbered draws: all that is random about tests and intervals."""

    def cell_sums(self, seed: int, number: int) -> CellSums:
        """The sums of one draw."""
