"""What chance alone would show where only some users are scored.

Which users a search scores depends on what it saw, so their attributes cannot simply be dealt
out anew. But two things do not depend on it: a fair sample that was drawn before anything was
scored, and the value of a group once all its users are scored. Under chance both are draws from
one distribution of values. Its picture are all users scored: they are more than the sample, so
that rare values are not missing, and where the search preferred extremes they are spread wider,
which errs on the side of chance. So values are drawn from them, with replacement, for every
user; every group is tested both as a whole and by its part of the sample; and the largest
statistic among all of them gives adjusted p-values. A group that the search chose to complete is
one of those that were reckoned with, whatever made it choose.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.groups.cells import Cells
from fairrec.groups.lattice import Lattice
from fairrec.statistics.moments import Moments, Sample, distinct_masks
from fairrec.statistics.permutation import ROUNDING, PermutationTest, collect


def sampled_test(
    moments: Moments,
    sample: Sample,
    cells: Cells,
    lattice: Lattice,
    is_tested: BoolArray,
    min_users: int,
    n_permutations: int,
    seed: int,
    threads: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> PermutationTest:
    """Observed statistics and their distribution under chance.

    The gap under chance is that between all full combinations, though a search verifies only
    some of them.

    Parameters
    ----------
    is_tested : (n_metrics, n_groups), groups of which enough users are known
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = moments.difference / moments.chance_error
    statistic = np.where(is_tested & np.isfinite(statistic), statistic, 0.0)
    reach = np.abs(statistic) * (1 - ROUNDING)
    drawer = _Drawer(moments, sample, cells, lattice)
    is_large = drawer.n_sample >= min_users

    def work(number: int) -> tuple[float, FloatArray, BoolArray]:
        whole, part, gaps = drawer.draw(seed, number)
        whole, part = np.abs(whole), np.where(is_large, np.abs(part), 0.0)
        largest = max(whole.max(initial=0.0), part.max(initial=0.0))
        # whether a group came to be tested as a whole or by its part depends on what was seen
        return float(largest), gaps, np.maximum(whole, part) >= reach

    return collect(statistic, work, n_permutations, threads, advance)


class _Drawer:
    """Draws a value for every user from all scored ones, and takes the statistics of all groups."""

    def __init__(self, moments: Moments, sample: Sample, cells: Cells, lattice: Lattice) -> None:
        self._moments, self._lattice, self._n_cells = moments, lattice, len(cells)
        self._is_full = lattice.is_full
        n_metrics = len(moments.mean)
        self._rounds = []
        n_whole = np.empty((n_metrics, len(cells)))
        masks, mask_of_metric = distinct_masks(moments.is_defined)
        for number, mask in enumerate(masks):
            metrics = np.flatnonzero(np.array(mask_of_metric) == number)
            # who of the others will have a value is not known; they are taken to have one
            size = np.where(sample.is_whole_cell, cells.sums(mask), cells.n_users).astype(np.int64)
            in_sample = cells.sums(mask & sample.is_reference).astype(np.int64)
            n_whole[metrics] = size
            pool = np.flatnonzero(mask)
            for start in range(0, len(metrics), 4):
                four = metrics[start : start + 4]
                rows = np.zeros((max(len(pool), 1), 4))
                rows[: len(pool), : len(four)] = moments.centred_per_user[four][:, pool].T
                self._rounds.append((size, in_sample, four, rows))
        self.n_sample = sample.n
        self._n_all = moments.n_users[:, None]
        self._n_whole = lattice.sums(n_whole)

    def draw(self, seed: int, number: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Statistics of the groups as a whole and by their part of the sample, and the gaps."""
        rng = np.random.Generator(np.random.SFC64([seed, number]))
        n_metrics = len(self._n_all)
        whole, part = np.empty((2, n_metrics, self._n_cells))
        squares = np.empty(n_metrics)
        for size, in_sample, metrics, rows in self._rounds:
            drawn = rng.integers(len(rows), size=int(size.sum()), dtype=np.int32)
            sums, sample_sums = np.zeros((2, 4, self._n_cells))
            sample_squares = np.zeros(4)
            _draw(drawn, size, in_sample, rows, sums, sample_sums, sample_squares)
            n = len(metrics)
            whole[metrics], part[metrics] = sums[:n], sample_sums[:n]
            squares[metrics] = sample_squares[:n]
        total = part.sum(axis=1, keepdims=True)
        whole_sums, part_sums = np.split(self._lattice.sums(np.concatenate([whole, part])), 2)
        variance = squares[:, None] - total**2 / np.maximum(self._n_all, 1)
        variance = np.maximum(variance, 0) / np.maximum(self._n_all - 1, 1)
        n_others = self._n_all - self.n_sample
        others = _ratio(total - part_sums, n_others)
        values = _ratio(whole_sums, self._n_whole)
        gaps = np.array(
            [
                _spread(row[self._is_full & (n > 0)])
                for row, n in zip(values, self._n_whole, strict=True)
            ]
        )
        return (
            _statistic(values - others, variance, self._n_whole, n_others),
            _statistic(
                _ratio(part_sums, self.n_sample) - others, variance, self.n_sample, n_others
            ),
            gaps,
        )


def _statistic(
    difference: FloatArray, variance: FloatArray, n: FloatArray, n_others: FloatArray
) -> FloatArray:
    is_defined = (n > 0) & (n_others > 0) & (variance > 0)
    error = np.sqrt(variance * _ratio(n + n_others, n * n_others))
    return np.divide(difference, error, out=np.zeros_like(difference), where=is_defined)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    shape = np.broadcast_shapes(above.shape, below.shape)
    return np.divide(above, below, out=np.zeros(shape), where=below > 0)


def _spread(values: FloatArray) -> float:
    return float(np.ptp(values)) if len(values) else np.nan


@kernel
def _draw(
    drawn: CodeArray,
    size: IntArray,
    in_sample: IntArray,
    rows: FloatArray,
    sums: FloatArray,
    sample_sums: FloatArray,
    sample_squares: FloatArray,
) -> None:
    """Give each cell its values, the first of them as its part of the sample."""
    place = 0
    for cell in range(len(size)):
        for i in range(size[cell]):
            row = drawn[place]
            place += 1
            for column in range(4):
                value = rows[row, column]
                sums[column, cell] += value
                if i < in_sample[cell]:
                    sample_sums[column, cell] += value
                    sample_squares[column] += value * value
