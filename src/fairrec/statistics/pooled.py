"""Metrics of a whole group's candidates thrown together, which are no mean over users."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.cells import Cells
from fairrec.inputs.candidates import CandidateLists


def pooled_per_cell(
    compute: Callable[[FloatArray, FloatArray], float],
    candidates: CandidateLists,
    cells: Cells,
    list_of_user: IntArray,
    wanted: BoolArray,
) -> FloatArray:
    """(n_cells,), the metric of each wanted cell's pool of candidates; NaN for the others.

    Parameters
    ----------
    list_of_user : (n_users,), position of each user's candidate list
    """
    assert candidates.labels is not None
    values = np.full(len(cells), np.nan)
    by_cell = list_of_user[np.argsort(cells.of_user, kind="stable")]
    bounds = np.concatenate([[0], np.cumsum(cells.n_users)])
    for cell in np.flatnonzero(wanted):
        lists = by_cell[bounds[cell] : bounds[cell + 1]]
        starts, stops = candidates.offsets[lists], candidates.offsets[lists + 1]
        rows = np.concatenate(
            [np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)]
        )
        values[cell] = compute(candidates.scores[rows], candidates.labels[rows])
    return values
