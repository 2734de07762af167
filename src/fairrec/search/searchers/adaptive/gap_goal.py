"""The gap as a goal: which full combination to look at next, and what may have been missed."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.search.gap_history import gaps_between
from fairrec.search.searcher import Task
from fairrec.search.searchers.adaptive.normal_tails import improvement, may_exceed
from fairrec.search.searchers.adaptive.posterior import SWEEPS, Posterior

REFIT_GROWTH = 1.1
"""The posterior is fitted again when the scored users have grown by this factor."""
BOUND_SWEEPS = 50
"""Passes before a bound is stated, so that it hardly depends on the way there."""


class GapGoal:
    """Expected improvement of the gap, at both ends and over all metrics, per user still to score.

    Improvements of different metrics are added up as shares of their gaps.
    """

    def __init__(self, task: Task, tolerance: float, confidence: float) -> None:
        evidence, space = task.evidence, task.space
        self.metrics = list(task.metrics)
        self._evidence = evidence
        self._tolerance, self._confidence = tolerance, confidence
        self._groups, self._cells = space.full, space.cell_of_full
        self._posteriors = [Posterior(evidence, metric, self._cells) for metric in self.metrics]
        self._n_left = self._sizes_left()
        self._rate = np.zeros((len(self.metrics), len(self._cells)))
        self._highest = np.full(len(self.metrics), -np.inf)
        self._lowest = np.full(len(self.metrics), np.inf)
        self._is_seen = np.zeros(len(self._cells), dtype=bool)
        self._fit_at = 0.0
        self._is_done = False
        # before anything is known: the smallest groups are the cheapest, and vary most
        shuffled = task.rng.permutation(len(self._cells))
        self._first = shuffled[np.argsort(space.sizes[shuffled], kind="stable")]

    def next_groups(self, n: int) -> IntArray:
        """The most promising groups, at most `n`; none when the gap is found well enough."""
        is_open = self._n_left > 0
        if not is_open.any():
            return self._groups[:0]
        if (~is_open).sum() < 2:
            cheap = self._first[is_open[self._first]]
            return self._groups[cheap[:n]]
        if self._evidence.users_scored >= self._fit_at:
            self._refit()
            self._is_done = self._is_close_enough()
        if self._is_done:
            return self._groups[:0]
        scale = np.array([posterior.noise for posterior in self._posteriors])
        scale = np.sqrt(scale / self._evidence.space.min_users)
        scale = np.maximum(scale, self._gaps)
        total = (self._rate / scale[:, None]).sum(axis=0)
        total[~is_open] = -1.0
        if n == 1:
            return self._groups[[int(np.argmax(total))]]
        best = np.argsort(-total, kind="stable")[:n]
        return self._groups[best[is_open[best]]]

    def update(self, groups: IntArray) -> None:
        """Take in newly scored users of these groups."""
        self._n_left = self._sizes_left()
        newly = np.flatnonzero((self._n_left == 0) & ~self._is_seen)
        self._is_seen[newly] = True
        values = self._evidence.values_of_cells(self._cells[newly])
        touched = np.searchsorted(self._groups, groups)
        touched = touched[touched < len(self._groups)]
        touched = touched[np.isin(self._groups[touched], groups)]
        for i, metric in enumerate(self.metrics):
            defined = values[metric][~np.isnan(values[metric])]
            highest = defined.max(initial=self._highest[i])
            lowest = defined.min(initial=self._lowest[i])
            has_moved = highest > self._highest[i] or lowest < self._lowest[i]
            self._highest[i], self._lowest[i] = highest, lowest
            self._rerate(i, np.arange(len(self._cells)) if has_moved else touched)

    def may_be_larger_by(self) -> FloatArray:
        """(n_metrics,), how much larger the exact gap may be than the one found.

        It is not larger with the confidence asked for, as far as the posterior can tell. NaN
        where all values seen are equal, which tells nothing of those not seen.
        """
        if not (self._n_left > 0).any():
            return np.zeros(len(self.metrics))
        self._refit(BOUND_SWEEPS)
        is_flat = [posterior.is_flat for posterior in self._posteriors]
        return np.where(is_flat, np.nan, self._bounds())

    @property
    def _gaps(self) -> FloatArray:
        return gaps_between(self._highest, self._lowest)

    def _sizes_left(self) -> IntArray:
        cells = self._evidence.space.cells
        return cells.n_users[self._cells] - self._evidence.n_scored[self._cells]

    def _refit(self, sweeps: int = SWEEPS) -> None:
        self._fit_at = self._evidence.users_scored * REFIT_GROWTH
        for i, posterior in enumerate(self._posteriors):
            posterior.fit(sweeps)
            self._rerate(i, np.arange(len(self._cells)))

    def _rerate(self, i: int, at: IntArray) -> None:
        at = at[self._n_left[at] > 0]
        mean, spread = self._posteriors[i].group_values(at)
        highest, lowest = self._ends(i)
        gain = improvement(mean - highest, spread) + improvement(lowest - mean, spread)
        self._rate[i, at] = gain / self._n_left[at]

    def _ends(self, i: int) -> tuple[float, float]:
        """The ends of the gap; before any group is fully scored, both are what all users have."""
        if np.isfinite(self._highest[i]):
            return float(self._highest[i]), float(self._lowest[i])
        return self._posteriors[i].overall, self._posteriors[i].overall

    def _is_close_enough(self) -> bool:
        # a metric without any spread has no gap to look for
        is_flat = np.array([posterior.is_surely_flat for posterior in self._posteriors])
        return bool((is_flat | (self._bounds() <= self._tolerance * self._gaps)).all())

    def _bounds(self) -> FloatArray:
        at = np.flatnonzero(self._n_left > 0)
        risk = (1 - self._confidence) / 2
        bounds = []
        for i, posterior in enumerate(self._posteriors):
            mean, spread = posterior.group_values(at)
            highest, lowest = self._ends(i)
            above = may_exceed(mean, spread, highest, risk)
            below = may_exceed(-mean, spread, -lowest, risk)
            bounds.append(above + below)
        return np.array(bounds)
