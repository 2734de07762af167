"""Intervals of items: the users are drawn again, and with them who is shown.

Items compete for the places of lists, so that their values depend on each other and no sample of
items says how far a difference may be off. The users are the sample: one counted more or less often
changes what all items receive. Users are dealt into blocks at random, and blocks are drawn with
replacement; what the values in each cell owe to each of them is found by leaving it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.threads import map_in_threads
from fairrec.groups.grouping import Grouping
from fairrec.inputs.catalogue import Catalogue
from fairrec.metrics.attention import Share
from fairrec.statistics.estimates import Estimates, shrunken_by
from fairrec.statistics.intervals import Interval
from fairrec.statistics.moments import Moments
from fairrec.statistics.scores import normal_scale, student_scale
from fairrec.statistics.simultaneous import (
    N_CLASSES,
    balanced_cut_offs,
    balanced_p_values,
    size_classes,
)

N_DRAWS = 1000
MOST_BLOCKS, FEWEST_BLOCKS = 400, 100
_ROOM = 20_000_000
"""Numbers that blocks and cells may take together, of one metric."""
_AT_ONCE = 50
"""Draws that are summed together: always the same, so that threads change no digit."""


@dataclass(frozen=True, slots=True)
class UserBlocks:
    """What the values of items owe to blocks of users.

    Parameters
    ----------
    owes : (n_metrics, n_blocks, n_cells), what the sum of values in a cell owes to each block; 0
        over all blocks
    bias : (n_metrics, n_cells), by how much the sum of values in a cell would fall with very many
        users, as leaving out blocks tells it (the jackknife); 0 where the same is due whoever comes
    due : (n_metrics, n_cells), what is due to the items of a cell, which their values are shares of
    largest : (n_metrics,), the most that one list gives to one item
    n_lists : lists that are not empty
    """

    owes: FloatArray
    bias: FloatArray
    due: FloatArray
    largest: FloatArray
    n_lists: int

    @property
    def n_blocks(self) -> int:
        """How many."""
        return int(self.owes.shape[1])


def user_blocks(
    shares: Sequence[Share],
    catalogue: Catalogue,
    grouping: Grouping,
    lengths: IntArray,
    seed: int,
    threads: int = 1,
) -> UserBlocks:
    """The users of lists in blocks of about one size, at random.

    Parameters
    ----------
    lengths : (n_lists,), items of each list
    """
    cells = grouping.cells
    n_lists = int((lengths > 0).sum())
    room = max(FEWEST_BLOCKS, min(MOST_BLOCKS, _ROOM // max(1, len(cells))))
    n_blocks = max(2, min(n_lists, room))
    block = np.zeros(len(lengths), dtype=np.int64)
    order = np.random.default_rng([seed, n_blocks]).permutation(n_lists)
    block[lengths > 0] = order % n_blocks
    of_unit = cells.of_user.astype(np.int64)
    owes = np.array(
        [
            *map_in_threads(
                lambda share: share.influence(catalogue, of_unit, len(cells), block, n_blocks),
                shares,
                threads,
            )
        ]
    )
    mean = owes.mean(axis=1, keepdims=True)
    due = [cells.sums(share.per_unit(catalogue)[1]) for share in shares]
    largest = [share.largest for share in shares]
    return UserBlocks(
        owes - mean, (1 - n_blocks) * mean[:, 0], np.array(due), np.array(largest), n_lists
    )


@dataclass(frozen=True, slots=True)
class ResampledUsers:
    """How far values and differences may be off, by users drawn again.

    Parameters
    ----------
    value_error, others_error, error : (n_metrics, n_groups), standard errors of the mean of a
        group, of that of all others, and of their difference
    cut_off : (n_metrics, n_groups), standard errors that no difference exceeds, all at once
    unseen, unseen_others : (n_metrics, n_groups), by how much the mean of a group, or of all
        others, would grow if every list gave its best place to one of them, as a share of lists
        may do unseen
    value_bias, bias : (n_metrics, n_groups), by how much the mean of a group, or a difference, may
        be off on average, because what is due is known from few users
    n_lists : lists of users
    p_values, adjusted_p_values : (n_metrics, n_groups), one less the confidence of the widest
        interval of a difference that leaves out 0, one at a time and all at once; adjusted 1 where
        not tested
    """

    value_error: FloatArray
    others_error: FloatArray
    error: FloatArray
    cut_off: FloatArray
    unseen: FloatArray
    unseen_others: FloatArray
    value_bias: FloatArray
    bias: FloatArray
    n_lists: int
    p_values: FloatArray
    adjusted_p_values: FloatArray

    def intervals(self, found: Estimates, raw: Moments, alpha: float) -> Estimates:
        """The same with the intervals of users drawn again, and shrunken by the same errors."""
        one = np.full((1, 1), float(ndtri(1 - alpha / 2)))
        low, high = raw.bounds[:, :1], raw.bounds[:, 1:]
        differences = self._of_differences(found, one)
        above = one * self.value_error * skewed(one, self.value_error, found.value)
        # what is off by other users is all that there is to shrink: the items stay; and where no
        # list showed a group, no error is seen
        error = np.maximum(self.error, self._share(one) * self.unseen / one)
        return replace(
            shrunken_by(found, raw, error),
            value_low=np.clip(
                found.value - one * self.value_error - self.value_bias, np.maximum(low, 0.0), None
            ),
            value_high=np.clip(
                found.value + np.maximum(above, self._share(one) * self.unseen) + self.value_bias,
                None,
                high,
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
            # a group may have more than was seen, and so may all others
            up = margin * skewed(cut_off, self.value_error, found.value)
            down = margin * skewed(cut_off, self.others_error, others)
            return Interval(
                difference - np.maximum(down, share * self.unseen_others) - self.bias,
                difference + np.maximum(up, share * self.unseen) + self.bias,
            )

    def _share(self, cut_off: FloatArray) -> FloatArray:
        """Of lists, of which none is seen as rarely as a normal score is beyond the cut-off."""
        share: FloatArray = 1 - np.exp(log_ndtr(-cut_off) / max(1, self.n_lists))
        return share


def skewed(cut_off: FloatArray, error: FloatArray, value: FloatArray) -> FloatArray:
    """By how much the upper end of a value is further away than so many standard errors.

    What few lists show varies as a count does, and where too few showed it by luck, its error is
    too small as well. If the variance grows with the value, the values from which the observed one
    is so many errors away reach this much further (Wilson's interval).

    >>> skewed(np.array(2.0), np.array(0.1), np.array([1.0, 0.1])).round(2).tolist()
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
    size : of the difference, less what it may be off on average
    lower, lower_error : the lower of the values of a group and of all others, which may be larger
        than it was seen, and its standard error
    unseen : as of `ResampledUsers`, of the same
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        # the inverse of `skewed`
        further = np.where(lower > 0, size / error * lower_error / lower, 0.0)
        by_error = size / error / np.sqrt(1 + further)
        # and of the share of lists that go unseen
        share = np.minimum(size / unseen, 1.0)
        by_unseen = -ndtri_exp(max(1, n_lists) * np.log1p(-share))
    away = np.where(size > 0, np.fmax(0.0, np.fmin(by_error, by_unseen)), 0.0)
    return np.asarray(away)


def resample_users(
    blocks: UserBlocks,
    moments: Moments,
    grouping: Grouping,
    alpha: float,
    seed: int,
    threads: int = 1,
) -> ResampledUsers:
    """Standard errors and cut-offs that hold for all groups and metrics at once."""
    n, n_others = moments.n, moments.n_others
    with np.errstate(divide="ignore"):
        per_own, per_other = (np.where(size > 0, 1 / size, np.nan) for size in (n, n_others))
    n_metrics, n_blocks, _ = blocks.owes.shape
    lattice = grouping.lattice

    def sums(draw: int) -> tuple[FloatArray, FloatArray]:
        rng = np.random.default_rng([seed, draw])
        times = rng.multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), size=_AT_ONCE) - 1.0
        own, others = np.empty((2, _AT_ONCE, *n.shape))
        for i in range(n_metrics):
            in_cells = times @ blocks.owes[i]
            in_groups = lattice.sums(np.ascontiguousarray(in_cells))
            own[:, i] = in_groups * per_own[i]
            others[:, i] = (in_cells.sum(axis=1)[:, None] - in_groups) * per_other[i]
        return own, others

    rounds = [*map_in_threads(sums, range(N_DRAWS // _AT_ONCE), threads)]
    own, others = (np.concatenate(drawn) for drawn in zip(*rounds, strict=True))
    # as the jackknife has it
    known = np.sqrt((n_blocks - 1) / n_blocks)
    both = own - others
    value_error, others_error, error = (
        known * np.sqrt((drawn**2).mean(axis=0)) for drawn in (own, others, both)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.abs(np.nan_to_num(both / error, posinf=0.0, neginf=0.0))
    is_tested = n >= grouping.min_users
    classes = size_classes(n, is_tested)
    maxima = np.zeros((len(scores), 2, N_CLASSES))
    for at in range(N_CLASSES):
        in_class = classes == at
        if in_class.any():
            # both ends alike: values of few lists are skewed, and a draw from them shows the
            # long tail on the wrong side
            maxima[:, :, at] = scores[:, in_class].max(axis=1)[:, None]
    by_class = np.append(balanced_cut_offs(maxima, classes, alpha)[0], np.inf)
    cut_off = student_scale(by_class[classes], np.full(classes.shape, n_blocks - 1.0))
    due = lattice.sums(blocks.due)
    rest = blocks.due.sum(axis=1)[:, None] - due
    whole = (blocks.largest * blocks.n_lists)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        unseen, unseen_others = (np.where(of > 0, whole / of, 0.0) for of in (due, rest))
    own_value, others_value = (
        moments.mean[:, None] + apart for apart in (moments.deviation, moments.others_deviation)
    )
    is_less = moments.difference < 0
    value_bias, others_bias = (
        np.abs(of)
        for of in (
            lattice.sums(blocks.bias) * per_own,
            (blocks.bias.sum(axis=1)[:, None] - lattice.sums(blocks.bias)) * per_other,
        )
    )
    # those of both sides may add up, and are known too badly to take one off the other
    bias = value_bias + others_bias
    away = standard_errors_away(
        np.maximum(np.abs(moments.difference) - bias, 0.0),
        error,
        np.where(is_less, own_value, others_value),
        np.where(is_less, value_error, others_error),
        np.where(is_less, unseen, unseen_others),
        blocks.n_lists,
    )
    return ResampledUsers(
        value_error,
        others_error,
        error,
        cut_off,
        unseen,
        unseen_others,
        value_bias,
        bias,
        blocks.n_lists,
        p_values=2 * ndtr(-away),
        adjusted_p_values=balanced_p_values(
            normal_scale(away, np.full(away.shape, n_blocks - 1.0)), maxima, classes
        ),
    )
