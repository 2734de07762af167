"""Tests of groups of items: users are drawn again, and random sets of as many items.

A catalogue is all there is, and its items compete for places, so the users are the sample. They are
dealt into blocks at random, and blocks are drawn with replacement. A value is what a group received
over what it was due, both known of every block; its error is the jackknife's over blocks.

A group of three items may be far off because of these three, and not because of what they share.
So attributes are permuted over items, with both parts of a ratio together, and the sets that are
as far off are counted. This describes a group; no verdict rests on it, as the catalogue is no
sample of items.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from fairrec.core.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from fairrec.core.threads import map_in_threads
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import Lattice
from fairrec.inputs.catalogue import Catalogue
from fairrec.metrics.item_exposure import Share
from fairrec.statistics.draws import choose_draws
from fairrec.statistics.intervals import Estimates, Interval, shrink
from fairrec.statistics.moments import Moments, divide_by_size
from fairrec.statistics.permutation import extreme_gaps
from fairrec.statistics.scores import normal_scale, student_scale
from fairrec.statistics.simultaneous import (
    UP,
    NullColumns,
    form_columns,
    interval_cut_offs,
    interval_p_values,
)

N_DRAWS = 1000
"""Draws of blocks, at least."""
MOST_BLOCKS, FEWEST_BLOCKS = 400, 100
_ROOM = 10_000_000
"""Blocks times cells or groups that fit into memory."""
_AT_ONCE = 50
"""Draws that are summed together, whatever the threads."""
_CERTAIN = 1e9
"""Standard errors between 0 and a difference that no user could change."""


@dataclass(frozen=True, slots=True)
class UserBlocks:
    """What items have from blocks of users.

    Parameters
    ----------
    amounts : (2, n_metrics, n_blocks, n_cells), what the items of a cell received and were due in
        the lists of a block; of means the sum of values, and their number
    largest : (2, n_metrics, n_groups), the most that a group, and all others, may receive from one
        list
    n_lists : lists that are not empty
    """

    amounts: FloatArray
    largest: FloatArray
    n_lists: int

    @property
    def n_blocks(self) -> int:
        """How many."""
        return int(self.amounts.shape[2])


def deal_into_blocks(
    shares: Sequence[Share],
    catalogue: Catalogue,
    grouping: Grouping,
    lengths: IntArray,
    seed: int,
    threads: int = 1,
) -> UserBlocks:
    """Users with lists of these lengths in random blocks of about one size."""
    cells = grouping.cells
    n_lists = int((lengths > 0).sum())
    most = max(1, len(cells), len(grouping.lattice))
    room = max(FEWEST_BLOCKS, min(MOST_BLOCKS, _ROOM // most))
    n_blocks = max(2, min(n_lists, room))
    block = np.zeros(len(lengths), dtype=np.int64)
    order = np.random.default_rng([seed, n_blocks]).permutation(n_lists)
    block[lengths > 0] = order % n_blocks
    of_unit = cells.of_user.astype(np.int64)
    amounts = map_in_threads(
        lambda share: share.in_blocks(catalogue, of_unit, len(cells), block, n_blocks),
        shares,
        threads,
    )

    def sums(per_unit: FloatArray) -> FloatArray:
        """(2, n_groups), of each group and of all others."""
        return _both_sides(cells.sums(per_unit)[None], grouping.lattice)[:, 0]

    largest = [share.largest(catalogue, sums) for share in shares]
    return UserBlocks(np.stack([*amounts], axis=1), np.stack(largest, axis=1), n_lists)


@dataclass(frozen=True, slots=True)
class ResampledUsers:
    """Standard errors by users drawn again, and the test by the same.

    A group is significant exactly where its simultaneous interval excludes 0. Arrays are
    (n_metrics, n_groups) where nothing else is said.

    Parameters
    ----------
    value_error, others_error, error : of the mean of a group, of that of all others, and of their
        difference
    cut_off, critical : simultaneous cut-offs, in standard errors and on the scale of `scores`
    scores : normal deviates of the differences: the cut-off at which their intervals reach 0
    unseen, unseen_others : growth of the mean of a group, or of all others, if every list gave its
        best places to them; a share of lists may do so unseen
    p_values, adjusted_p_values : one less the confidence of the widest interval that excludes 0,
        one at a time and all at once; adjusted 1 where not tested
    gaps, spans : (n_draws, n_metrics), as of `PermutationTest`, if all groups had one value
    """

    value_error: FloatArray
    others_error: FloatArray
    error: FloatArray
    cut_off: FloatArray
    critical: FloatArray
    scores: FloatArray
    unseen: FloatArray
    unseen_others: FloatArray
    n_lists: int
    p_values: FloatArray
    adjusted_p_values: FloatArray
    gaps: FloatArray
    spans: FloatArray

    def intervals(self, found: Estimates, raw: Moments, alpha: float) -> Estimates:
        """The estimates with intervals and shrinkage by these errors."""
        one = np.full((1, 1), float(ndtri(1 - alpha / 2)))
        low, high = raw.bounds[:, :1], raw.bounds[:, 1:]
        differences = self._of_differences(found, one)
        above = one * self.value_error * skew_factor(one, self.value_error, found.value)
        # a group that no list showed has no error of its own
        error = np.maximum(self.error, self._share(one) * self.unseen / one)
        return replace(
            shrink(found, raw, error),
            value_low=np.clip(found.value - one * self.value_error, np.maximum(low, 0.0), None),
            value_high=np.clip(
                found.value + np.maximum(above, self._share(one) * self.unseen), None, high
            ),
            difference_low=differences.low,
            difference_high=differences.high,
            simultaneous=self._of_differences(found, self.cut_off),
        )

    def _of_differences(self, found: Estimates, cut_off: FloatArray) -> Interval:
        share, difference = self._share(cut_off), found.difference
        others = found.value - difference
        with np.errstate(invalid="ignore"):
            margin = np.where(np.isfinite(cut_off), cut_off * self.error, np.inf)
            up = margin * skew_factor(cut_off, self.value_error, found.value)
            down = margin * skew_factor(cut_off, self.others_error, others)
            return Interval(
                difference - np.maximum(down, share * self.unseen_others),
                difference + np.maximum(up, share * self.unseen),
            )

    def _share(self, cut_off: FloatArray) -> FloatArray:
        """The share of lists of which none is seen as rarely as a score is beyond the cut-off."""
        share: FloatArray = 1 - np.exp(log_ndtr(-cut_off) / max(1, self.n_lists))
        return share


def n_draws_at(alpha: float) -> int:
    """How often users are drawn again; more often for a small significance level.

    >>> n_draws_at(0.05), n_draws_at(0.0015)
    (1000, 1350)
    """
    return math.ceil(max(N_DRAWS, 2 / alpha) / _AT_ONCE) * _AT_ONCE


def skew_factor(cut_off: FloatArray, error: FloatArray, value: FloatArray) -> FloatArray:
    """The factor by which the upper end is further away than a symmetric interval's.

    Values of few lists vary as counts do, so that a value that is low by chance has too small an
    error as well. Where the variance grows with the value, this is Wilson's interval.

    >>> skew_factor(np.array(2.0), np.array(0.1), np.array([1.0, 0.1])).round(2).tolist()
    [1.1, 2.41]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.where(np.isfinite(cut_off) & (value > 0), cut_off * error / value / 2, 0.0)
    further: FloatArray = half + np.sqrt(1 + half**2)
    return further


def standard_errors_away(
    size: FloatArray,
    error: FloatArray,
    lower: FloatArray,
    lower_error: FloatArray,
    unseen: FloatArray,
    n_lists: int,
) -> FloatArray:
    """The cut-off at which the interval of a difference reaches 0; 0 where it is undefined.

    Parameters
    ----------
    size, error : of the difference
    lower, lower_error, unseen : the lower one of the values of a group and of all others, which may
        be larger than observed
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        # the inverse of `skew_factor`
        further = np.where(lower > 0, size / error * lower_error / lower, 0.0)
        by_error = size / error / np.sqrt(1 + further)
        # the inverse of the share of lists that go unseen
        share = np.minimum(size / unseen, 1.0)
        by_unseen = -ndtri_exp(max(1, n_lists) * np.log1p(-share))
    away = np.where(size > 0, np.fmax(0.0, np.fmin(by_error, by_unseen)), 0.0)
    return np.minimum(away, _CERTAIN)


def resample_users(
    blocks: UserBlocks,
    moments: Moments,
    grouping: Grouping,
    alpha: float,
    seed: int,
    threads: int = 1,
) -> ResampledUsers:
    """Standard errors, and the test of all groups and metrics at once.

    A group and its complement are one difference, so the smaller of their cut-offs holds for both.
    """
    n, n_blocks, lattice = moments.n, blocks.n_blocks, grouping.lattice
    is_large = n >= grouping.min_users
    # of each group, and of all others
    values = np.stack([moments.deviation, moments.others_deviation]) + moments.mean[:, None]
    due = _both_sides(blocks.amounts[1].sum(axis=1), lattice)
    due = np.where(due > ROUNDING * blocks.amounts[1].sum(axis=(1, 2))[:, None], due, np.nan)
    squares = np.empty((3, *n.shape))
    added: tuple[list[FloatArray], list[FloatArray]] = [], []
    for i in range(len(n)):
        received, owed = (_both_sides(part[i], lattice, threads) for part in blocks.amounts)
        whole = due[:, i, None]
        # what each side receives from a block beyond its value
        received -= values[:, i, None] * owed
        # of a block with more than half of what is due, half is left
        own, others = received / np.maximum(whole - owed, whole / 2)
        squares[:, i] = [(lost**2).sum(axis=0) for lost in (own, others, own - others)]
        received /= whole
        added[0].append(received[0])
        added[1].append(received[0] - received[1])
    # as the jackknife has it
    value_error, others_error, error = np.sqrt((n_blocks - 1) / n_blocks * squares)
    even = np.full(len(n), 0.5)
    columns = form_columns(grouping.shortest_depth, is_large & lattice.is_tested, even, n)
    is_end = is_large & lattice.is_full

    def draw(number: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Largest scores in each column; between intersections, gaps and those of scores."""
        rng = np.random.default_rng([seed, number])
        times = rng.multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), size=_AT_ONCE) - 1.0
        own, apart = (np.stack([times @ one for one in of], axis=1) for of in added)
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = np.nan_to_num(apart / error, posinf=0.0, neginf=0.0)
        # even tails: draws from the skewed values of few lists have the long tail on the wrong side
        maxima = np.array([columns.largest(np.abs(one))[[UP, UP]] for one in apart])
        gaps, spans = (np.array([extreme_gaps(one, is_end) for one in of]) for of in (own, apart))
        return maxima, gaps, spans

    drawn = [*map_in_threads(draw, range(n_draws_at(alpha) // _AT_ONCE), threads)]
    maxima, gaps, spans = (np.concatenate(part) for part in zip(*drawn, strict=True))
    null, other = NullColumns(columns, maxima), grouping.complement
    critical = columns.spread(interval_cut_offs(null, alpha))[UP]
    critical = np.minimum(critical, critical[:, other])
    unseen, unseen_others = np.nan_to_num(blocks.largest * blocks.n_lists / due)
    is_less = moments.difference < 0
    away = standard_errors_away(
        np.abs(moments.difference),
        error,
        np.where(is_less, values[0], values[1]),
        np.where(is_less, value_error, others_error),
        np.where(is_less, unseen, unseen_others),
        blocks.n_lists,
    )
    freedom = np.full(n.shape, n_blocks - 1.0)
    scores = np.copysign(normal_scale(away, freedom), np.nan_to_num(moments.difference))
    adjusted = interval_p_values(null, scores)
    return ResampledUsers(
        value_error,
        others_error,
        error,
        student_scale(critical, freedom),
        critical,
        scores,
        unseen,
        unseen_others,
        blocks.n_lists,
        p_values=2 * ndtr(-away),
        adjusted_p_values=np.minimum(adjusted, adjusted[:, other]),
        gaps=gaps,
        spans=spans,
    )


def _both_sides(in_cells: FloatArray, lattice: Lattice, threads: int = 1) -> FloatArray:
    """(2, n_rows, n_groups), sums over the cells of each group, and over all others."""
    own = lattice.sums(np.ascontiguousarray(in_cells), threads)
    return np.stack([own, in_cells.sum(axis=1)[:, None] - own])


def random_set_shares(
    moments: Moments,
    grouping: Grouping,
    n_permutations: int,
    seed: int,
    threads: int = 1,
    advance: Callable[[int], None] = lambda n: None,
) -> FloatArray:
    """(n_metrics, n_groups), the share of sets of as many items as far from all others.

    In the same direction; the group is one of the sets. NaN where it is compared with none.
    """
    sign, reach = np.sign(moments.difference), np.abs(moments.difference) * (1 - ROUNDING)
    # what is due to a row beyond 1, so that one without a value has nothing to permute
    below = np.where(moments.n_per_row > 0, moments.size_per_row - 1.0, 0.0)
    draws = choose_draws(
        replace(
            moments,
            mean=np.concatenate([moments.mean, np.ones(len(below))]),
            centred_per_row=np.concatenate([moments.centred_per_row, below]),
            n_per_row=np.concatenate([moments.n_per_row, moments.n_per_row]),
        ),
        grouping.cells,
    )

    def is_as_far(number: int) -> BoolArray:
        """Of one permutation."""
        total, beyond = np.split(grouping.lattice.sums(draws.cell_sums(seed, number).total), 2)
        drawn = divide_by_size(replace(moments, total=total), moments.n + beyond)
        with np.errstate(invalid="ignore"):
            return np.asarray(sign * drawn.difference >= reach)

    n_as_far = np.ones(moments.n.shape)
    for is_reached in map_in_threads(is_as_far, range(n_permutations), threads):
        n_as_far += is_reached
        advance(1)
    return np.where(np.isfinite(moments.difference), n_as_far / (1 + n_permutations), np.nan)
