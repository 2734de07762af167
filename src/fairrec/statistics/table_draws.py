"""Permutations of users whose values are on levels: tables of places and levels.

A permutation keeps how many users are in each place, a cell of a stratum, and how many are on each
level; what it gives to places is a table with these margins. All such tables come up as often as
the multivariate hypergeometric distribution says, so that a permutation is drawn exactly without
looking at any user, and costs as much as there are places and levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.groups.cells import Cells
from fairrec.statistics.cell_sums import CellSums
from fairrec.statistics.moments import Moments

MOST_USERS = 999_999_999
"""Users of a stratum for whom numpy draws hypergeometric numbers."""


class Round(NamedTuple):
    """Metrics that were counted together and are defined for the same users.

    Parameters
    ----------
    metrics : their positions
    n, level : (n_rows,), users with a value, and the level they are on
    """

    metrics: IntArray
    n: BoolArray | FloatArray
    level: IntArray


class Margins(NamedTuple):
    """The margins of the table of one stratum in one round.

    Parameters
    ----------
    cells : (n_places,), the cell that each place is
    sizes : (n_places,), users of each
    totals : (n_levels,), users on each level
    values : (n_levels, 2 * n_metrics), centred values of the metrics, then their squares
    """

    cells: IntArray
    sizes: IntArray
    totals: IntArray
    values: FloatArray

    @property
    def n_entries(self) -> int:
        """The size of the table."""
        return len(self.sizes) * len(self.totals)


class TableSums:
    """The levels of users, permuted over the places of each stratum.

    Metrics that were not counted together are permuted apart from one another. Their largest
    score is then a little larger than if they went together, which is on the safe side.
    """

    def __init__(self, moments: Moments, cells: Cells) -> None:
        self._n = np.array([cells.sums(n) for n in moments.n_per_row]).reshape(-1, len(cells))
        self._rounds = [
            (one.metrics, [*_margins(one, moments, cells)]) for one in rounds_of(moments)
        ]

    @property
    def margins(self) -> Iterator[Margins]:
        """Of all tables."""
        return (margins for _, tables in self._rounds for margins in tables)

    def cell_sums(self, seed: int, number: int) -> CellSums:
        """The sums of one permutation."""
        total, squares = np.zeros((2, *self._n.shape))
        for at, (metrics, tables) in enumerate(self._rounds):
            rng = np.random.Generator(np.random.SFC64([seed, number, at]))
            for margins in tables:
                drawn = random_table(margins.sizes, margins.totals, rng) @ margins.values
                sums, squared = np.split(drawn.T, 2)
                total[np.ix_(metrics, margins.cells)] += sums
                squares[np.ix_(metrics, margins.cells)] += squared
        return CellSums(self._n, total, squares)


def rounds_of(moments: Moments) -> Iterator[Round]:
    """All metrics, those with the same users on the same levels together."""
    levels = moments.level_of_row
    assert levels is not None
    seen: dict[tuple[bytes, bytes], list[int]] = {}
    for i, (n, level) in enumerate(zip(moments.n_per_row, levels, strict=True)):
        seen.setdefault((n.tobytes(), level.tobytes()), []).append(i)
    for metrics in seen.values():
        yield Round(np.array(metrics), moments.n_per_row[metrics[0]], levels[metrics[0]])


def _margins(one: Round, moments: Moments, cells: Cells) -> Iterator[Margins]:
    """Of every stratum with a user who can change places."""
    for stratum in moments.strata.rows:
        rows = stratum[one.n[stratum] > 0]
        if not len(rows):
            continue
        places, place = np.unique(cells.of_user[rows], return_inverse=True)
        _, first, level = np.unique(one.level[rows], return_index=True, return_inverse=True)
        n = one.n[rows].astype(np.float64)
        sizes, totals = np.bincount(place, weights=n), np.bincount(level, weights=n)
        if sizes.sum() > MOST_USERS:
            raise InputError(
                f"{sizes.sum():,.0f} users are compared with one another, and permutations are "
                f"drawn for {MOST_USERS:,} at most. Audit them in several parts."
            )
        centred = moments.centred_per_row[one.metrics][:, rows[first]].T
        values = np.concatenate([centred, centred**2], axis=1)
        yield Margins(
            places.astype(np.int64), sizes.astype(np.int64), totals.astype(np.int64), values
        )


def random_table(sizes: IntArray, totals: IntArray, rng: np.random.Generator) -> IntArray:
    """(n_places, n_levels), a table with these margins, each as often as permutations give it."""
    if len(sizes) < len(totals):
        return random_table(totals, sizes, rng).T
    table = np.empty((len(totals), len(sizes)), dtype=np.int64)
    left = sizes.copy()
    # the largest comes last, where nothing is left to be drawn
    order = np.argsort(totals, kind="stable")
    for level in order[:-1]:
        table[level] = rng.multivariate_hypergeometric(left, totals[level], method="marginals")
        left -= table[level]
    table[order[-1]] = left
    return table.T
