"""Findings as a goal: which group of the lattice may turn out to differ by more than chance."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.groups.lattice import ANY, members
from fairrec.search.searcher import NOTHING, Request, Task
from fairrec.search.searchers.posterior import expected_improvement

REFIT_GROWTH = 1.05
"""All groups are rated again when the scored users have grown by this factor."""
SET_APART = 1e-3
"""Share of groups that are taken to be set apart before anything is known."""
APART = 0.3
"""How far the mean of such a group is from the others, in standard deviations of users."""
TINY = 1e-18
"""Stands for the spread of a metric without any."""
WORTHLESS = 1e-4
"""Expected excess over the critical statistic below which a group is not worth its users."""


class FindingsGoal:
    """Expected excess of a group's statistic over the critical one, per user still to score.

    Most groups are like all others and a few are set apart; how likely a group is one of those
    follows from its own scored users, whatever else they are (a spike and a slab). Cells of
    groups that are found already are left out, so that a group is only looked at for what it
    adds; but one that holds a found group may also take its place, if it stands out more.
    """

    def __init__(self, task: Task) -> None:
        self._evidence = task.evidence
        self.metrics = list(task.metrics)
        space = task.space
        n_tests = max(1, len(space.lattice) * len(self.metrics))
        self._critical = float(-ndtri(task.alpha / 2 / n_tests))
        self._is_tested = space.lattice.is_tested
        self._is_explained = np.zeros(len(space.cells), dtype=bool)
        # the statistic of what was found inside a group; infinite where nothing was
        self._to_beat = np.full(len(space.lattice), np.inf)
        self._rate = np.zeros(len(space.lattice))
        self._fit_at = 0.0

    def next_users(self, n: int, steps: int) -> Request:
        """At least `n` users of the most promising groups; none when none is.

        Groups have users in common, and the best are often neighbours, so that one is asked for
        alone where it has users enough.
        """
        if not self._evidence.users_scored:
            return NOTHING
        if self._evidence.users_scored >= self._fit_at:
            self._refit()
        n_best = min(n, len(self._rate))
        best = np.argpartition(-self._rate, n_best - 1)[:n_best]
        best = best[np.argsort(-self._rate[best], kind="stable")]
        groups: list[int] = []
        shares: list[int] = []
        for group in best[self._rate[best] > 0].tolist():
            n_left = self._evidence.n_left(group)
            groups.append(group)
            shares.append(min(n_left, max(n - sum(shares), -(-n_left // steps))))
            if sum(shares) >= n:
                break
        return Request(np.array(groups), np.array(shares)) if groups else NOTHING

    def update(self, groups: IntArray) -> None:
        """Look again at these groups, and at all when there is much new."""
        if self._evidence.users_scored >= self._fit_at:
            self._refit()
            return
        whole, added = [], []
        for group in groups.tolist():
            cells = self._evidence.space.cells_in(group)
            columns = self._columns(cells)
            whole.append(columns.sum(axis=1))
            added.append(columns[:, ~self._is_explained[cells]].sum(axis=1))
        rates = self._best_rates(np.array(added).T, np.array(whole).T, self._to_beat[groups])
        self._rate[groups] = rates * self._is_tested[groups]

    def _refit(self) -> None:
        """Rate every group from the sums over its cells."""
        self._fit_at = self._evidence.users_scored * REFIT_GROWTH
        self._learn_all()
        space = self._evidence.space
        columns = self._columns(np.arange(len(space.cells)))
        while True:
            sums = space.lattice.sums(np.where(self._is_explained, 0.0, columns))
            new, statistic = self._new_finding(sums)
            if statistic <= self._critical:
                break
            codes = space.lattice.codes
            self._is_explained |= members(codes[new], space.cells)
            holds = ((codes == ANY) | (codes == codes[new])).all(axis=1)
            holds[new] = False
            before = np.where(np.isinf(self._to_beat[holds]), 0.0, self._to_beat[holds])
            self._to_beat[holds] = np.maximum(before, statistic)
        rates = self._best_rates(sums, space.lattice.sums(columns), self._to_beat)
        self._rate = rates * self._is_tested

    def _best_rates(self, added: FloatArray, whole: FloatArray, to_beat: FloatArray) -> FloatArray:
        """Rates by the sums over cells that are not explained, or over all where they are more."""
        rates = self._rates(added)
        if np.isfinite(to_beat).any():
            rates = np.maximum(rates, self._rates(whole, to_beat))
        return rates

    def _learn_all(self) -> None:
        """Mean and spread over all users: from the reference sample where there is one.

        A rare value may be missing from the sample, so the spread is at least that of all scored.
        """
        evidence = self._evidence
        in_sample = evidence.is_reference & evidence.is_scored
        is_taken = in_sample if in_sample.any() else evidence.is_scored
        values = evidence.values_per_user[self.metrics][:, is_taken]
        n = np.maximum((~np.isnan(values)).sum(axis=1), 1)
        self._mean = np.nansum(values, axis=1) / n
        centred = np.nan_to_num(values - self._mean[:, None])
        of_sample = (centred**2).sum(axis=1) / np.maximum(n - 1, 1)
        n_scored = np.maximum(evidence.n_defined[self.metrics].sum(axis=1), 1)
        mean_scored = evidence.totals[self.metrics].sum(axis=1) / n_scored
        of_scored = evidence.squares[self.metrics].sum(axis=1) / n_scored - mean_scored**2
        self._variance = np.maximum(np.maximum(of_sample, of_scored), TINY)
        self._n_sample = n

    def _columns(self, cells: IntArray) -> FloatArray:
        """(2 + 2 * n_metrics, n_cells): users, users left, then known users and centred sums."""
        evidence = self._evidence
        sizes, scored = evidence.space.cells.n_users[cells], evidence.n_scored[cells]
        n = evidence.n_defined[self.metrics][:, cells]
        totals = evidence.totals[self.metrics][:, cells] - n * self._mean[:, None]
        return np.concatenate([[sizes, sizes - scored], n, totals]).astype(np.float64)

    def _predicted(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n_metrics, n_groups), mean and spread of the statistic when all users are scored."""
        n_metrics = len(self.metrics)
        n_left = sums[1]
        n, totals = sums[2 : 2 + n_metrics], sums[2 + n_metrics :]
        noise = self._variance[:, None]
        prior = APART**2 * noise
        precision = 1 / prior + n / noise
        expected = totals / noise / precision
        size = np.maximum(n + n_left, 1)
        mean = (totals + n_left * expected) / size
        spread = np.sqrt(n_left**2 / precision + n_left * noise) / size
        error = np.sqrt(noise * (1 / size + 1 / self._n_sample[:, None]))
        return mean / error, spread / error

    def _rates(self, sums: FloatArray, to_beat: FloatArray | None = None) -> FloatArray:
        """(n_groups,), expected excess per user, over the critical statistic or a larger one."""
        mean, spread = self._predicted(sums)
        least = self._critical if to_beat is None else np.maximum(to_beat, self._critical)
        margin = np.where(np.isinf(least), -1e9, np.abs(mean) - least)
        excess = expected_improvement(margin, spread) * self._chance_apart(sums)
        excess, n_left = excess.max(axis=0), sums[1]
        is_open = (n_left > 0) & (sums[0] >= self._evidence.space.min_users)
        rate = np.divide(excess, n_left, out=np.zeros_like(excess), where=is_open)
        return np.where(excess > WORTHLESS, rate, 0.0)

    def _chance_apart(self, sums: FloatArray) -> FloatArray:
        """(n_metrics, n_groups), probability that a group is set apart, given its scored users."""
        n_metrics = len(self.metrics)
        n, totals = sums[2 : 2 + n_metrics], sums[2 + n_metrics :]
        noise = self._variance[:, None]
        # the ratio of two normal densities of the sum of n users
        growth = 1 + n * APART**2
        log_ratio = totals**2 / (2 * noise * np.maximum(n, 1)) * (1 - 1 / growth)
        odds = SET_APART * np.exp(np.minimum(log_ratio - np.log(growth) / 2, 500.0))
        return np.asarray(odds / (1 + odds))

    def _new_finding(self, sums: FloatArray) -> tuple[int, float]:
        """The group that stands out most of those complete and not set aside."""
        mean, _ = self._predicted(sums)
        statistic = np.abs(mean).max(axis=0)
        is_complete = (sums[1] == 0) & (sums[0] >= self._evidence.space.min_users)
        statistic[~(is_complete & self._is_tested)] = 0.0
        best = int(np.argmax(statistic))
        return best, float(statistic[best])
