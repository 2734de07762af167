"""Draws under the null hypothesis: sums over cells when values are independent of attributes.

A draw follows from its number and a seed, whatever the threads. Metrics that are defined for the
same users share what is drawn, and are summed four at a time: one look-up gives four values.

A permutation keeps the number of users in each place, a cell of a stratum, and on each level. The
table of places and levels then has a multivariate hypergeometric distribution, from which it is
drawn exactly without looking at users.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.groups.cells import Cells, number_combinations
from fairrec.statistics.moments import Moments, Sample
from fairrec.statistics.strata import Strata, distinct_masks


class CellSums(NamedTuple):
    """Users, and sums of their values and squares, in each cell; (n_metrics, n_cells) each."""

    n: FloatArray
    total: FloatArray
    squares: FloatArray


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


def iterate_fours(moments: Moments) -> Iterator[Four]:
    """All metrics, those defined for the same users together."""
    masks, mask_of_metric = distinct_masks(moments.n_per_row)
    for number, mask in enumerate(masks):
        metrics = np.flatnonzero(np.array(mask_of_metric) == number)
        for start in range(0, len(metrics), 4):
            four = metrics[start : start + 4]
            rows = np.zeros((len(mask), 4))
            rows[:, : len(four)] = moments.centred_per_row[four].T
            yield Four(mask > 0, four, rows)


class PermutedSums:
    """The values of users, permuted across the users of a stratum.

    The k-th defined value of the shuffled order goes to the k-th place with a defined value, so
    group sizes stay. Kinds of users who are alike in all metrics are shuffled: of few kinds, the
    values stay in the processor's cache.
    """

    def __init__(
        self, moments: Moments, cells: Cells, alike: tuple[CodeArray, IntArray] | None = None
    ) -> None:
        strata = moments.strata
        self._n = np.empty((len(moments.mean), len(cells)))
        kind_of_user, first_of_kind = alike or find_alike_users(moments)
        by_stratum = np.argsort(strata.of_user, kind="stable")
        self._by_stratum = kind_of_user[by_stratum]
        self._strata = np.concatenate(
            [[0], np.cumsum(np.bincount(strata.of_user, minlength=strata.n_strata))]
        ).astype(np.int64)
        self._rounds = []
        for four in iterate_fours(moments):
            self._n[four.metrics] = cells.sums(four.is_defined)
            of_kind = four._replace(
                is_defined=four.is_defined[first_of_kind], rows=four.rows[first_of_kind]
            )
            self._rounds.append((of_kind, _runs(four.is_defined, strata, cells)))

    def cell_sums(self, seed: int, number: int) -> CellSums:
        """The sums of one permutation."""
        rng = np.random.Generator(np.random.SFC64([seed, number]))
        order = self._by_stratum.copy()
        _shuffle(order, self._strata, rng.random(len(order)))
        total, squares = np.empty((2, *self._n.shape))
        for (is_defined, metrics, rows), runs in self._rounds:
            permuted = order if is_defined.all() else order[is_defined[order]]
            sums, squared = np.zeros((2, 4, self._n.shape[1]))
            _sum_in_order(permuted, *runs, rows, sums, squared)
            total[metrics], squares[metrics] = sums[: len(metrics)], squared[: len(metrics)]
        return CellSums(self._n, total, squares)


def find_alike_users(moments: Moments) -> tuple[CodeArray, IntArray]:
    """(n_users,), the kind of each user, in as few bytes as they need; a user of each kind."""
    columns = [*moments.centred_per_row, *moments.n_per_row]
    coded = [np.unique(column, return_inverse=True) for column in columns]
    first, kind = number_combinations(
        [code.astype(np.int32) for _, code in coded], [len(levels) for levels, _ in coded]
    )
    return kind.astype(np.min_scalar_type(max(len(first) - 1, 0))), first


def _runs(is_defined: BoolArray, strata: Strata, cells: Cells) -> tuple[IntArray, IntArray]:
    """Runs of places of one cell in one stratum: (n_runs,) cells, and (n_runs + 1,) bounds."""
    key = strata.of_user[is_defined].astype(np.int64) * len(cells) + cells.of_user[is_defined]
    occurring, n = np.unique(key, return_counts=True)
    return occurring % len(cells), np.concatenate([[0], np.cumsum(n)])


class ResampledSums:
    """Values of all scored users, drawn with replacement for every user.

    Parameters
    ----------
    n, n_sample : (n_metrics, n_cells), users a value is drawn for, and those of the sample
    """

    def __init__(self, moments: Moments, sample: Sample, cells: Cells) -> None:
        shape = (len(moments.mean), len(cells))
        self.n, self.n_sample = np.empty((2, *shape))
        self._rounds = []
        for is_defined, metrics, rows in iterate_fours(moments):
            # users who are not scored are assumed to have a value
            size = np.where(sample.is_fully_scored_cell, cells.sums(is_defined), cells.n_users)
            in_sample = cells.sums(is_defined & sample.is_reference)
            self.n[metrics], self.n_sample[metrics] = size, in_sample
            pool = rows[is_defined] if is_defined.any() else rows[:1]
            self._rounds.append((metrics, size.astype(np.int64), in_sample.astype(np.int64), pool))

    def cell_sums(self, seed: int, number: int) -> tuple[CellSums, CellSums]:
        """The sums of one resample: of all users of a cell, and of its reference sample."""
        rng = np.random.Generator(np.random.SFC64([seed, number]))
        sums = np.zeros((4, *self.n.shape))
        for metrics, size, in_sample, rows in self._rounds:
            drawn = rng.integers(len(rows), size=int(size.sum()), dtype=np.int32)
            part = np.zeros((4, 4, self.n.shape[1]))
            _sum_drawn(drawn, size, in_sample, rows, *part)
            sums[:, metrics] = part[:, : len(metrics)]
        all_users = CellSums(self.n, sums[0], sums[1])
        return all_users, CellSums(self.n_sample, sums[2], sums[3])


@kernel
def _shuffle(order: CodeArray, strata: IntArray, uniform: FloatArray) -> None:
    """Fisher-Yates within each stratum, with one uniform number for each place."""
    for stratum in range(len(strata) - 1):
        first = strata[stratum]
        for place in range(strata[stratum + 1] - 1, first, -1):
            other = first + int(uniform[place] * (place - first + 1))
            order[place], order[other] = order[other], order[place]


@kernel
def _sum_in_order(
    order: CodeArray,
    cell: IntArray,
    bounds: IntArray,
    rows: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Give each run as many users as it has places, and sum their four values and the squares.

    Written out, because loops over the four take six times as long.
    """
    for run in range(len(cell)):
        a = b = c = d = 0.0
        aa = bb = cc = dd = 0.0
        for place in range(bounds[run], bounds[run + 1]):
            user = order[place]
            w, x, y, z = rows[user, 0], rows[user, 1], rows[user, 2], rows[user, 3]
            a += w
            b += x
            c += y
            d += z
            aa += w * w
            bb += x * x
            cc += y * y
            dd += z * z
        at = cell[run]
        sums[0, at] += a
        sums[1, at] += b
        sums[2, at] += c
        sums[3, at] += d
        squares[0, at] += aa
        squares[1, at] += bb
        squares[2, at] += cc
        squares[3, at] += dd


@kernel
def _sum_drawn(
    drawn: CodeArray,
    size: IntArray,
    in_sample: IntArray,
    rows: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
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
                squares[column, cell] += value * value
                if i < in_sample[cell]:
                    sample_sums[column, cell] += value
                    sample_squares[column, cell] += value * value


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
        """Entries of the table."""
        return len(self.sizes) * len(self.totals)


class TableSums:
    """The levels of users, permuted over the places of each stratum.

    Metrics that were not counted together are permuted independently, which makes the largest
    score a little larger: on the safe side.
    """

    def __init__(self, moments: Moments, cells: Cells) -> None:
        self._n = np.array([cells.sums(n) for n in moments.n_per_row]).reshape(-1, len(cells))
        self._rounds = [
            (one.metrics, [*_margins(one, moments, cells)]) for one in iterate_rounds(moments)
        ]

    @property
    def margins(self) -> Iterator[Margins]:
        """The margins of all tables."""
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


def iterate_rounds(moments: Moments) -> Iterator[Round]:
    """All metrics, those with the same users on the same levels together."""
    levels = moments.level_of_row
    assert levels is not None
    seen: dict[tuple[bytes, bytes], list[int]] = {}
    for i, (n, level) in enumerate(zip(moments.n_per_row, levels, strict=True)):
        seen.setdefault((n.tobytes(), level.tobytes()), []).append(i)
    for metrics in seen.values():
        yield Round(np.array(metrics), moments.n_per_row[metrics[0]], levels[metrics[0]])


def _margins(one: Round, moments: Moments, cells: Cells) -> Iterator[Margins]:
    """The margins of every stratum with users."""
    for stratum in moments.strata.rows:
        rows = stratum[one.n[stratum] > 0]
        if not len(rows):
            continue
        places, place = np.unique(cells.of_user[rows], return_inverse=True)
        _, first, level = np.unique(one.level[rows], return_index=True, return_inverse=True)
        n = one.n[rows].astype(np.float64)
        sizes, totals = np.bincount(place, weights=n), np.bincount(level, weights=n)
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
    # the largest comes last, as it follows from the others
    order = np.argsort(totals, kind="stable")
    for level in order[:-1]:
        table[level] = rng.multivariate_hypergeometric(left, totals[level], method="marginals")
        left -= table[level]
    table[order[-1]] = left
    return table.T


# nanoseconds of one processor, as `python -m benchmarks draws` measures them
PER_USER, PER_USER_AND_FOUR = 10, 10
PER_ENTRY, PER_LINE = 130, 8_000
LEAST_USERS = 10_000
"""Fewer are shuffled."""


def choose_draws(moments: Moments, cells: Cells) -> PermutedSums | TableSums:
    """Permutations of all users.

    Counted users can only be drawn as tables. Where rows are users and all metrics are defined for
    the same ones, both kinds have the same distribution, and the cheaper one is chosen.
    """
    if moments.level_of_row is not None:
        return TableSums(moments, cells)
    kind, first = alike = find_alike_users(moments)
    n_metrics, n_users = moments.n_per_row.shape
    of_shuffle = n_users * (PER_USER + PER_USER_AND_FOUR * -(-n_metrics // 4))
    is_together = len(distinct_masks(moments.n_per_row)[0]) == 1
    if n_users >= LEAST_USERS and is_together and PER_ENTRY * len(first) <= of_shuffle:
        levels = np.broadcast_to(kind.astype(np.int64), (n_metrics, n_users))
        tables = TableSums(replace(moments, level_of_row=levels), cells)
        of_tables = sum(
            PER_ENTRY * one.n_entries + PER_LINE * min(len(one.sizes), len(one.totals))
            for one in tables.margins
        )
        if of_tables < of_shuffle:
            return tables
    return PermutedSums(moments, cells, alike)
