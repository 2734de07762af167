"""Null distributions in columns: each metric, tail and depth has one of its own.

One null distribution for all scores would let the longest tail set the critical value of all
others. So a score counts by its p-value in its own column over the column's share of the
significance level, adjusted for how often a draw has as small a value in any column (a weighted
minP, Westfall and Young 1993). Cut-offs of intervals have a column for each size class besides
(Beran 1988). Beyond the top tenth of a column its p-value is an exponential fit to the squared
scores of all draws, the observed one included, which keeps the test exact whatever the fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from fairrec.core.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from fairrec.metrics.direction import worse_ends

UP, DOWN = 0, 1
"""The tails: groups above all others, groups below."""
EDGES = (30, 100, 300, 1000)
"""Users from which a group is in the next size class."""
DEPTH_SHARES = (0.4, 0.3, 0.2, 0.1)
"""Of the significance level: groups by one, two and three attributes, and by more."""
HARM_SHARE = 0.8
"""Of the test's level, for the worse end."""
FITTED = 0.1
"""Share of the draws, the largest, to which the tail of a column is fitted."""
FEWEST_FITTED = 10
"""Draws that a fit needs, where these are no more than half of all."""
_DIGITS = 9
"""Decimals of scores by which draws are told apart."""
_SAME = 1e-7
"""Logs of p-values that differ by less are equal."""


class Columns(NamedTuple):
    """The columns of scores, and what they have of the significance level.

    Parameters
    ----------
    of_group : (n_metrics, n_groups), -1 where not tested
    shares : (2, n_columns), upwards and downwards; they add up to 1
    number : (n_columns,), equal for columns of one metric and depth, rising
    """

    of_group: IntArray
    shares: FloatArray
    number: IntArray

    @property
    def n_columns(self) -> int:
        """How many there are in each tail."""
        return int(self.shares.shape[1])

    @property
    def sizes(self) -> IntArray:
        """(n_columns,), groups of each."""
        return np.bincount(self.of_group[self.of_group >= 0], minlength=self.n_columns)

    def largest(self, scores: FloatArray) -> FloatArray:
        """(2, n_columns), the largest score upwards and downwards in each column."""
        found = np.zeros((2, self.n_columns))
        is_tested = self.of_group >= 0
        for tail, sign in ((UP, 1), (DOWN, -1)):
            np.maximum.at(found[tail], self.of_group[is_tested], sign * scores[is_tested])
        return found

    def spread(self, by_column: FloatArray, otherwise: float = np.inf) -> FloatArray:
        """(2, n_metrics, n_groups), the value of each group's column."""
        return np.append(by_column, np.full((2, 1), otherwise), axis=1)[:, self.of_group]


def form_columns(
    depth: IntArray, is_tested: BoolArray, up: FloatArray, n: FloatArray | None = None
) -> Columns:
    """A column for each metric and depth, and for each size class where sizes are given.

    Metrics share the level equally, and so do the size classes of a depth.

    Parameters
    ----------
    depth : (n_groups,), attributes of each group
    is_tested, n : (n_metrics, n_groups), groups that are tested, and users of each
    up : (n_metrics,), share of the upper tail
    """
    n_depths, n_sizes = len(DEPTH_SHARES), len(EDGES) + 1
    size = 0 if n is None else np.searchsorted(EDGES, n, side="right")
    metrics = np.arange(len(is_tested))[:, None]
    key = (metrics * n_depths + np.minimum(depth, n_depths) - 1) * n_sizes + size
    found, column = np.unique(key[is_tested], return_inverse=True)
    of_group = np.full(is_tested.shape, -1)
    of_group[is_tested] = column
    at_depth = found // n_sizes
    of_metric = at_depth // n_depths
    shares = np.asarray(DEPTH_SHARES)[at_depth % n_depths]
    depths, first, n_columns = np.unique(at_depth, return_index=True, return_counts=True)
    total = np.bincount(depths // n_depths, weights=shares[first], minlength=len(is_tested))
    shares = shares / np.repeat(n_columns, n_columns) / total[of_metric]
    shares /= max(1, len(np.unique(of_metric)))
    return Columns(of_group, np.stack([up[of_metric], 1 - up[of_metric]]) * shares, at_depth)


def harm_shares(higher_is_better: Sequence[bool | None]) -> FloatArray:
    """(n_metrics,), share of the upper tail of a test: more where it is the worse one."""
    ends = [worse_ends(better) for better in higher_is_better]
    return np.array([0.5 if len(one) > 1 else 0.5 + one[0] * (HARM_SHARE - 0.5) for one in ends])


class NullColumns:
    """The null distributions of all columns, and of the smallest p-value in any of them.

    Parameters
    ----------
    maxima : (n_draws, 2, n_columns), the largest score upwards and downwards in each column
    observed : (2, n_columns), the same of the data, one more draw; None for intervals
    """

    def __init__(
        self, columns: Columns, maxima: FloatArray, observed: FloatArray | None = None
    ) -> None:
        rows = maxima if observed is None else np.concatenate([observed[None], maxima])
        # sums in another order differ in the last digits
        rows = rows.reshape(len(rows), columns.shares.size).round(_DIGITS)
        self.columns, self._n = columns, len(maxima) + 1
        self._rising = np.sort(rows, axis=0)
        with np.errstate(divide="ignore"):
            self._log_shares = np.log(columns.shares).ravel()
        n_fitted = max(int(np.ceil(FITTED * len(rows))), min(FEWEST_FITTED, len(rows) // 2), 1)
        self._start = self._rising[-n_fitted] if len(rows) else np.zeros(rows.shape[1])
        beyond = np.maximum(self._rising**2 - self._start**2, 0.0)
        self._n_beyond = (beyond > 0).sum(axis=0)
        self._scale = beyond.sum(axis=0) / np.maximum(self._n_beyond, 1)
        found = [self._log_p(at, row) for at, row in enumerate(rows.T)]
        self._least = np.sort(np.min(found, axis=0)) if found else np.zeros(0)
        if observed is None:
            # one draw more may be beyond all others
            self._least = np.append(-np.inf, self._least)

    def _log_p(self, at: int, scores: FloatArray) -> FloatArray:
        """Log of the p-values of scores in one column and tail, over its share of the level."""
        rising, scores = self._rising[:, at], scores.round(_DIGITS)
        n_reached = len(rising) - np.searchsorted(rising, scores - ROUNDING, side="left")
        with np.errstate(divide="ignore", invalid="ignore"):
            log_p = np.log(n_reached / len(rising))
            fitted = (
                np.log(self._n_beyond[at] / len(rising))
                - (scores**2 - self._start[at] ** 2) / self._scale[at]
            )
        is_fitted = (scores > self._start[at] + ROUNDING) & (self._n_beyond[at] > 0)
        return np.asarray(np.where(is_fitted, fitted, log_p) - self._log_shares[at])

    def p_values(self, scores: FloatArray) -> FloatArray:
        """(n_metrics, n_groups), adjusted for all groups; 1 where not tested or at 0."""
        p_values = np.ones(scores.shape)
        of_group = self.columns.of_group
        for tail, sign in ((UP, 1), (DOWN, -1)):
            here = (of_group >= 0) & (sign * scores > 0)
            for column in np.unique(of_group[here]):
                of_column = here & (of_group == column)
                log_p = self._log_p(
                    tail * self.columns.n_columns + column, np.abs(scores[of_column])
                )
                n_reached = np.searchsorted(self._least, log_p + _SAME, side="right")
                p_values[of_column] = np.maximum(n_reached, 1) / self._n
        return p_values

    def cut_offs(self, alpha: float, raised: float = 0.0) -> FloatArray:
        """(2, n_columns), exceeded in any column with probability alpha; infinite if too few draws.

        Parameters
        ----------
        raised : Monte Carlo standard errors by which cut-offs are raised; lowered where negative
        """
        n_columns = self.columns.n_columns
        n_beyond = int(np.floor(alpha * self._n + ROUNDING))
        if not n_beyond or not n_columns:
            return np.full((2, n_columns), np.inf)
        log_p = self._least[n_beyond] + self._log_shares
        n = len(self._rising)
        if raised:
            log_p = np.minimum(log_p - raised * self._error_of_log(log_p, alpha), 0.0)
        place = np.clip(np.ceil(n * np.exp(log_p) - ROUNDING).astype(np.int64), 1, n)
        cut_offs = np.take_along_axis(self._rising, (n - place)[None], axis=0)[0]
        with np.errstate(divide="ignore"):
            further = np.log(self._n_beyond / n) - log_p
        fitted = np.sqrt(self._start**2 + np.maximum(further, 0.0) * self._scale)
        is_fitted = (self._n_beyond > 0) & (further > 0)
        return np.asarray(np.where(is_fitted, fitted, cut_offs)).reshape(2, -1)

    def _error_of_log(self, log_p: FloatArray, alpha: float) -> FloatArray:
        """Monte Carlo standard errors of the log of p-values in each column.

        Of the share of draws beyond alpha in any column, and of the column's own share of draws,
        or where its tail is fitted of the start and the scale of the tail.
        """
        n = len(self._rising)
        start = np.log(np.maximum(self._n_beyond, 1) / n)
        further = np.where(self._n_beyond > 0, np.maximum(start - log_p, 0.0), 0.0)
        share = np.exp(np.where(further > 0, start, log_p))
        of_column = (1 - share) / (share * n) + further**2 / np.maximum(self._n_beyond, 1)
        return np.asarray(np.sqrt(of_column + (1 - alpha) / (alpha * n)))


def interval_cut_offs(null: NullColumns, alpha: float, raised: float = 0.0) -> FloatArray:
    """(2, n_columns), for intervals that hold for all groups at once.

    At least those of as many independent normal scores at twice alpha: a tail that is short among
    all users, such as that of no hits, is longer in groups that differ.
    """
    return np.maximum(null.cut_offs(alpha, raised), normal_cut_offs(null.columns, 2 * alpha))


def normal_cut_offs(columns: Columns, alpha: float) -> FloatArray:
    """(2, n_columns), of independent normal scores, one a group."""
    return np.asarray(-ndtri(alpha * columns.shares / np.maximum(columns.sizes, 1)))


def interval_p_values(null: NullColumns, scores: FloatArray) -> FloatArray:
    """(n_metrics, n_groups), the smallest alpha whose interval cut-off a score reaches."""
    columns = null.columns
    shares = columns.spread(columns.shares / np.maximum(columns.sizes, 1), np.nan)
    # the inverse of the normal cut-offs at twice alpha
    by_normal = ndtr(-np.abs(scores)) / np.where(scores > 0, *shares) / 2
    return np.asarray(np.minimum(np.fmax(null.p_values(scores), by_normal), 1.0))


def least_permutations(alpha: float) -> int:
    """The fewest permutations that can give a p-value of alpha.

    >>> least_permutations(0.05), least_permutations(0.01)
    (19, 99)
    """
    return math.ceil(1 / alpha - ROUNDING) - 1


def holm(p_values: FloatArray) -> FloatArray:
    """Adjusted p-values that bound the family-wise error rate (Holm 1979).

    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    adjusted = np.empty_like(p_values)
    n_left = np.arange(len(p_values), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * n_left), 1)
    return adjusted
