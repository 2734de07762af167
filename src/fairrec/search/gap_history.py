"""The history of a search: the gap found after how many users."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray


def gaps_between(highest: FloatArray, lowest: FloatArray) -> FloatArray:
    """(n_metrics,), largest minus smallest value; 0 where there is none yet."""
    is_known = highest >= lowest
    gaps: FloatArray = np.zeros(len(is_known))
    np.subtract(highest, lowest, out=gaps, where=is_known)
    return gaps


@dataclass(slots=True)
class GapHistory:
    """One entry each time another full combination is fully scored.

    Parameters
    ----------
    users, seconds : scored and passed by then
    gaps : for each metric the largest minus the smallest value of fully scored ones, 0 below two
    cells : the combination itself
    """

    n_metrics: int
    users: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    gaps: list[tuple[float, ...]] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)

    def add(self, users: int, seconds: float, gaps: FloatArray, cell: int) -> None:
        """Note the state of the search."""
        self.users.append(users)
        self.seconds.append(seconds)
        self.gaps.append(tuple(gaps.tolist()))
        self.cells.append(cell)

    def gaps_after(self, users: IntArray) -> FloatArray:
        """(n_metrics, len(users)), the gap found by the time so many users were scored."""
        # nothing is found before the first entry
        found = np.array([(0.0,) * self.n_metrics, *self.gaps])
        return np.asarray(found[np.searchsorted(self.users, users, side="right")].T)
