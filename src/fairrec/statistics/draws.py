"""Draws under the null hypothesis: sums over cells when values are independent of attributes.

A draw has a number and a seed and no other source of randomness, so that it is the same in
whichever thread or order it is made. Metrics that are defined for the same users share what is
drawn, and are summed four at a time: one look-up of a user brings four values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.groups.cells import Cells
from fairrec.statistics.moments import Moments, Sample, distinct_masks


class Four(NamedTuple):
    """Up to four metrics that are defined for the same users.

    Parameters
    ----------
    is_defined : (n_users,)
    metrics : their positions
    rows : (n_users, 4), a user's centred values side by side, 0 where there is no fourth metric
    """

    is_defined: BoolArray
    metrics: IntArray
    rows: FloatArray


def by_fours(moments: Moments) -> Iterator[Four]:
    """All metrics, those defined for the same users together."""
    masks, mask_of_metric = distinct_masks(moments.is_defined)
    for number, mask in enumerate(masks):
        metrics = np.flatnonzero(np.array(mask_of_metric) == number)
        for start in range(0, len(metrics), 4):
            four = metrics[start : start + 4]
            rows = np.zeros((len(mask), 4))
            rows[:, : len(four)] = moments.centred_per_user[four].T
            yield Four(mask, four, rows)


class PermutedSums:
    """The values of users, permuted across users.

    Users whose value is undefined keep out of it: the k-th defined value of the shuffled order
    goes to the k-th place among those with a defined value, so group sizes stay as they are.
    """

    def __init__(self, moments: Moments, cells: Cells) -> None:
        self._n_metrics, self._n_users = moments.is_defined.shape
        self._n_cells = len(cells)
        self._rounds = [
            (four, np.concatenate([[0], np.cumsum(cells.sums(four.is_defined))]).astype(np.int64))
            for four in by_fours(moments)
        ]

    def cell_sums(self, seed: int, number: int) -> FloatArray:
        """(n_metrics, n_cells), sums of the values each cell gets in one permutation."""
        rng = np.random.Generator(np.random.SFC64([seed, number]))
        order = np.arange(self._n_users, dtype=np.int32)
        _shuffle(order, rng.random(len(order)))
        sums = np.empty((self._n_metrics, self._n_cells))
        part = np.empty((4, self._n_cells))
        for (is_defined, metrics, rows), bounds in self._rounds:
            permuted = order if is_defined.all() else order[is_defined[order]]
            _sum_in_order(permuted, bounds, rows, part)
            sums[metrics] = part[: len(metrics)]
        return sums


class DrawnSums(NamedTuple):
    """Sums of values drawn for all users of a cell, and for its part of the reference sample.

    Parameters
    ----------
    all_users, sample : (n_metrics, n_cells)
    squares : (n_metrics,), of the sample
    """

    all_users: FloatArray
    sample: FloatArray
    squares: FloatArray


class ResampledSums:
    """Values of all scored users, drawn with replacement for every user.

    Parameters
    ----------
    n_users : (n_metrics, n_cells), how many users a value is drawn for
    """

    def __init__(self, moments: Moments, sample: Sample, cells: Cells) -> None:
        self._n_metrics, self._n_cells = len(moments.mean), len(cells)
        self.n_users = np.empty((self._n_metrics, len(cells)))
        self._rounds = []
        for is_defined, metrics, rows in by_fours(moments):
            # who of the others will have a value is not known; they are taken to have one
            size = np.where(sample.is_fully_scored_cell, cells.sums(is_defined), cells.n_users)
            in_sample = cells.sums(is_defined & sample.is_reference)
            self.n_users[metrics] = size
            pool = rows[is_defined] if is_defined.any() else rows[:1]
            self._rounds.append((metrics, size.astype(np.int64), in_sample.astype(np.int64), pool))

    def cell_sums(self, seed: int, number: int) -> DrawnSums:
        """The sums of one resample."""
        rng = np.random.Generator(np.random.SFC64([seed, number]))
        all_users, part = np.empty((2, self._n_metrics, self._n_cells))
        squares = np.empty(self._n_metrics)
        for metrics, size, in_sample, rows in self._rounds:
            drawn = rng.integers(len(rows), size=int(size.sum()), dtype=np.int32)
            sums, sample_sums = np.zeros((2, 4, self._n_cells))
            sample_squares = np.zeros(4)
            _sum_drawn(drawn, size, in_sample, rows, sums, sample_sums, sample_squares)
            n = len(metrics)
            all_users[metrics], part[metrics] = sums[:n], sample_sums[:n]
            squares[metrics] = sample_squares[:n]
        return DrawnSums(all_users, part, squares)


@kernel
def _shuffle(order: CodeArray, uniform: FloatArray) -> None:
    """Fisher-Yates, with one uniform number for each place."""
    for place in range(len(order) - 1, 0, -1):
        other = int(uniform[place] * (place + 1))
        order[place], order[other] = order[other], order[place]


@kernel
def _sum_in_order(order: CodeArray, bounds: IntArray, rows: FloatArray, sums: FloatArray) -> None:
    """Give each cell as many users as it has places, and sum their four values."""
    for cell in range(len(bounds) - 1):
        a = b = c = d = 0.0
        for place in range(bounds[cell], bounds[cell + 1]):
            user = order[place]
            a += rows[user, 0]
            b += rows[user, 1]
            c += rows[user, 2]
            d += rows[user, 3]
        sums[0, cell], sums[1, cell], sums[2, cell], sums[3, cell] = a, b, c, d


@kernel
def _sum_drawn(
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
