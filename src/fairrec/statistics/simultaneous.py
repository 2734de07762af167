"""Cut-offs that hold for all groups and metrics at once, balanced over sizes and tails.

One cut-off for groups of all sizes would be set by the smallest, whose scores have the longest
tails, and a skewed metric has a long tail on one side only. So groups fall into size classes, and
each class has its own cut-off upwards and downwards, all of them reached equally often by chance
(Beran 1988). What is controlled is that any of them is exceeded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from fairrec.core.arrays import BoolArray, FloatArray, IntArray

UP, DOWN = 0, 1
"""The tails: groups above all others, groups below."""
EDGES = (30, 100, 300, 1000)
"""Users from which a group is in the next size class."""
N_CLASSES = len(EDGES) + 1
_ROUNDING = 1e-9
"""A level times the number of draws may be a hair below a whole number."""
_DIGITS = 9
"""Decimals of scores by which draws are told apart."""


def size_classes(n: FloatArray, is_tested: BoolArray) -> IntArray:
    """The size class of each group of `n` users; -1 where it is not tested."""
    return np.where(is_tested, np.searchsorted(EDGES, n, side="right"), -1).astype(np.int64)


def balanced_cut_offs(
    maxima: FloatArray, classes: IntArray, alpha: float, observed: FloatArray | None = None
) -> FloatArray:
    """(2, n_classes), what scores exceed upwards or downwards in any class with probability alpha.

    Infinite where there are too few draws.

    Parameters
    ----------
    maxima : (n_draws, 2, n_classes), the largest score upwards and downwards in each class
    classes : (n_metrics, n_groups), -1 where not tested
    observed : (2, n_classes), the same of what is tested; None for intervals, whose cut-offs are at
        least those of as many independent normal scores as the class has: a tail that is short
        among all users, such as that of no hits, is longer in groups that differ
    """
    n_draws = len(maxima)
    is_used = np.array([(classes == at).any() for at in range(N_CLASSES)])
    cut_offs = np.full((2, N_CLASSES), np.inf)
    allowed = n_allowed(n_draws, alpha)
    if allowed < 0 or not is_used.any():
        return cut_offs
    reached = _placed(maxima, is_used, observed).cut_offs(allowed).reshape(2, -1)
    n_groups = np.array([(classes == at).sum() for at in range(N_CLASSES)])
    floor = normal_cut_offs(n_groups, alpha)[is_used] if observed is None else 0.0
    cut_offs[:, is_used] = np.maximum(reached, floor)
    return cut_offs


def balanced_p_values(
    scores: FloatArray, maxima: FloatArray, classes: IntArray, observed: FloatArray | None = None
) -> FloatArray:
    """(n_metrics, n_groups), the smallest alpha whose balanced cut-off a score reaches.

    Parameters
    ----------
    scores : (n_metrics, n_groups), of which the sign is the tail
    maxima, classes, observed : as of `balanced_cut_offs`
    """
    n_groups = np.array([(classes == at).sum() for at in range(N_CLASSES)])
    is_used = n_groups > 0
    p_values = np.ones(scores.shape)
    if not is_used.any():
        return p_values
    placed = _placed(maxima, is_used, observed)
    n_used = int(is_used.sum())
    for column, at in enumerate(np.flatnonzero(is_used)):
        for tail, is_in in ((UP, scores > 0), (DOWN, scores < 0)):
            here = (classes == at) & is_in
            score = np.abs(scores[here])
            found = placed.p_values(tail * n_used + column, score)
            if observed is None:
                # the inverse of normal_cut_offs
                by_normal = ndtr(-score) * n_groups[at] / tail_share(n_groups, 1.0)
                found = np.minimum(np.maximum(found, by_normal), 1.0)
            p_values[here] = found
    return p_values


def largest_in_classes(scores: FloatArray, classes: IntArray) -> FloatArray:
    """(2, n_classes), the largest score upwards and downwards in each class."""
    return np.stack([largest_of(scores[classes == at]) for at in range(N_CLASSES)], axis=1)


def largest_of(scores: FloatArray) -> FloatArray:
    """(2,), the largest score upwards and downwards."""
    return np.array([scores.max(initial=0.0), -scores.min(initial=0.0)])


def _placed(maxima: FloatArray, is_used: BoolArray, observed: FloatArray | None) -> Placed:
    """Tails and size classes as columns; those that there are."""
    columns = maxima[:, :, is_used].reshape(len(maxima), -1)
    return Placed.of(columns, None if observed is None else observed[:, is_used].ravel())


class Placed(NamedTuple):
    """What draws show in several columns, all of which are looked at.

    A score is as rare as its place in its own column, and what is adjusted for is how often a draw
    has as good a place in any (Westfall and Young's minP). Columns that go together, such as the
    two tails of one difference, are so counted once. What is observed is one more draw: if it had
    no place of its own, the best of each column would all be taken for the rarest there is.

    Parameters
    ----------
    falling : (1 + n_draws, n_columns), each column in falling order, its sign turned
    best : (1 + n_draws,), the best place of each draw, sorted; 1 for the largest of a column, and
        equal ones share the last place, so that what is often the largest is not rare
    """

    falling: FloatArray
    best: IntArray

    @classmethod
    def of(cls, columns: FloatArray, observed: FloatArray | None = None) -> Placed:
        """From what draws show.

        Parameters
        ----------
        columns : (n_draws, n_columns)
        observed : (n_columns,), None for what would be beyond every draw in all of them
        """
        first = np.full(columns.shape[1], np.inf) if observed is None else observed
        # sums in another order differ in the last digits
        rows = -np.concatenate([first[None], columns]).round(_DIGITS)
        falling = np.sort(rows, axis=0)
        places = [
            np.searchsorted(of, row, side="right")
            for of, row in zip(falling.T, rows.T, strict=True)
        ]
        return cls(falling, np.sort(np.min(places, axis=0)))

    def p_values(self, column: int, scores: FloatArray) -> FloatArray:
        """Of scores in one column."""
        place = np.searchsorted(
            self.falling[:, column], -scores * (1 - _ROUNDING) + _ROUNDING, side="right"
        )
        return np.asarray(np.searchsorted(self.best, place, side="right") / len(self.best))

    def cut_offs(self, allowed: int) -> FloatArray:
        """(n_columns,), what only so many draws and one exceed in any column."""
        return np.asarray(-self.falling[self.best[allowed + 1] - 1])


def normal_cut_offs(n_groups: IntArray, alpha: float) -> FloatArray:
    """(n_classes,), the same for normal scores: alpha is divided by classes, tails and groups.

    Parameters
    ----------
    n_groups : (n_classes,), of each class; the cut-off is infinite where there is none
    """
    share = tail_share(n_groups, alpha) / np.maximum(n_groups, 1)
    return np.where(n_groups > 0, -ndtri(share), np.inf)


def tail_share(n_groups: IntArray, alpha: float) -> float:
    """The probability that one class may exceed its cut-off with in one tail."""
    return alpha / (2 * max(1, int((n_groups > 0).sum())))


def has_enough_draws(n_draws: int, alpha: float) -> bool:
    """Whether so many draws can tell what is exceeded with probability alpha."""
    return n_allowed(n_draws, alpha) >= 0


def n_allowed(n_draws: int, alpha: float) -> int:
    """Draws that may be beyond the cut-offs, less one."""
    return int(np.floor(alpha * (1 + n_draws) + _ROUNDING)) - 1
