"""The contribution of each condition of a group to its difference."""

from __future__ import annotations

from math import comb

import numpy as np

from fairrec.core.arrays import CodeArray, FloatArray
from fairrec.groups.cells import Cells
from fairrec.statistics.moments import Moments

MAX_CONDITIONS = 12
"""Beyond it the 2^conditions sets of a group take too long."""


def shapley_contributions(
    metric: int, codes: CodeArray, moments: Moments, cells: Cells
) -> dict[int, float]:
    """The contribution of each condition to a group's difference; they add up to it.

    The worth of a set of conditions is the difference between those who meet them and all
    others; a condition's contribution is its mean gain over all orders of adding them (Shapley
    1953). Empty for a group of more than MAX_CONDITIONS conditions, and where a search has scored
    nobody in one of the sets.

    Returns
    -------
    attribute position -> contribution
    """
    conditions = np.flatnonzero(codes >= 0)
    if len(conditions) > MAX_CONDITIONS:
        return {}
    is_met = [cells.codes[attribute] == codes[attribute] for attribute in conditions]
    known = moments.known_cells(metric, cells)
    n_sets = 1 << len(conditions)
    worth = np.zeros(n_sets)
    for chosen in range(1, n_sets):
        is_member = np.ones(len(cells), dtype=bool)
        for position, met in enumerate(is_met):
            if chosen >> position & 1:
                is_member &= met
        difference = known.difference(is_member)
        if difference is not None:
            worth[chosen] = difference
        elif moments.sample is not None:
            return {}
    return {
        int(attribute): _shapley(worth, position, len(conditions))
        for position, attribute in enumerate(conditions)
    }


def _shapley(worth: FloatArray, position: int, n_conditions: int) -> float:
    share = 0.0
    for chosen in range(len(worth)):
        if not chosen >> position & 1:
            gain = worth[chosen | 1 << position] - worth[chosen]
            share += gain / (n_conditions * comb(n_conditions - 1, chosen.bit_count()))
    return float(share)
