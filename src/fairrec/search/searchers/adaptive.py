"""Our searcher: score next where another user is expected to improve the answer most.

Two goals share the users: the gap between full intersections, and findings among all groups of
the lattice. Each asks for a few users of some groups at a time, enough to fill the calls of the
recommender that can be under way, so that a group that disappoints is abandoned; each takes its
turn when it has had fewer users than the other.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from scipy.special import ndtri

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.groups.lattice import ANY, members
from fairrec.search.evidence import Evidence, gaps_between
from fairrec.search.searcher import NOTHING, Request, Task, hyper_dataclass, searcher
from fairrec.search.searchers.posterior import (
    SWEEPS,
    Beliefs,
    Ends,
    Groups,
    Posterior,
    best_rated,
    excess_bound,
    expected_improvement,
    rate_groups,
    risk_beyond,
    share_out,
)

REFIT_GROWTH = 1.1
"""The posterior is fitted again when the scored users have grown by this factor."""
BOUND_SWEEPS = 50
"""Passes before a bound is stated, so that it hardly depends on the way there."""
LIKELY = 64
"""Groups that are looked at first for a reason to go on."""
REFIT_FINDINGS_GROWTH = 1.05
"""All groups are rated again when the scored users have grown by this factor."""
SET_APART = 1e-3
"""Share of groups that are taken to be set apart before anything is known."""
APART = 0.3
"""How far the mean of such a group is from the others, in standard deviations of users."""
TINY = 1e-18
"""Stands for the spread of a metric without any."""
WORTHLESS = 1e-4
"""Expected excess over the critical statistic below which a group is not worth its users."""


@hyper_dataclass
class AdaptiveParameters:
    """What can be set.

    Parameters
    ----------
    tolerance : the search for the gap ends when the gap is at most so much larger than found,
        as a share of it
    confidence : of that bound
    findings : share of the users spent on findings among all groups, 0 for none
    steps : in about how many steps a group is scored
    at_once : users asked for together, for each call of the recommender that can be under way;
        fewer make more and smaller calls, and save a few users
    """

    tolerance: Annotated[float, Field(ge=0)] = 0.01
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    findings: Annotated[float, Field(ge=0, lt=1)] = 0.5
    steps: Annotated[int, Field(ge=1)] = 32
    at_once: Annotated[int, Field(ge=1)] = 16


@searcher(
    "adaptive",
    "most expected improvement per user scored",
    hyper_parameters=AdaptiveParameters,
    searches_all=True,
    uses_proxy=True,
)
class Adaptive:
    """Takes turns between the gap and the findings."""

    def __init__(self, task: Task, hyper: AdaptiveParameters) -> None:
        self.gap = GapGoal(task, hyper.tolerance, hyper.confidence)
        self.findings = FindingsGoal(task)
        self.confidence = hyper.confidence
        self._evidence = task.evidence
        self._steps, self._n_users = hyper.steps, hyper.at_once * task.n_calls
        self._share: dict[GapGoal | FindingsGoal, float] = {
            self.gap: 1 - hyper.findings,
            self.findings: hyper.findings,
        }
        self._spent = dict.fromkeys(self._share, 0)

    def ask(self) -> Request:
        """A few users of the most promising groups, of the goal whose turn it is."""
        goals = [goal for goal, share in self._share.items() if share > 0]
        for goal in sorted(goals, key=lambda goal: self._spent[goal] / self._share[goal]):
            request = goal.next_users(self._n_users, self._steps)
            if request.n_users is not None:
                self._spent[goal] += int(request.n_users.sum())
                return request
        return NOTHING

    def may_be_larger_by(self) -> FloatArray:
        """(n_metrics,), how much larger the exact gap may be, at the confidence asked for."""
        return self.gap.may_be_larger_by()

    def tell(self, request: Request, evidence: Evidence) -> None:
        """See what was scored."""
        for goal, share in self._share.items():
            if share > 0:
                goal.update(request.groups)


class GapGoal:
    """Improvement of the gap, at both ends and over all metrics, for the users it takes.

    Improvements of different metrics are added up as shares of their gaps.
    """

    def __init__(self, task: Task, tolerance: float, confidence: float) -> None:
        evidence, space = task.evidence, task.space
        self.metrics = list(task.metrics)
        self._evidence = evidence
        self._tolerance, self._risk = tolerance, (1 - confidence) / 2  # of either end
        self._positions = space.full
        self._groups = Groups.from_evidence(evidence, space.cell_of_full, self.metrics)
        self._posteriors = [
            Posterior(evidence, metric, space.cell_of_full) for metric in self.metrics
        ]
        self._n_scored = np.zeros(len(space.full), dtype=np.int64)
        self._n_complete = 0
        self._highest = np.full(len(self.metrics), -np.inf)
        self._lowest = np.full(len(self.metrics), np.inf)
        self._rates = np.zeros(len(space.full))
        self._fit_at = 0.0
        self._is_done = False
        self._update_beliefs()
        # before anything is known: the smallest groups are the cheapest, and vary most
        shuffled = task.rng.permutation(len(space.full))
        self._first = shuffled[np.argsort(space.sizes[shuffled], kind="stable")]

    def next_users(self, n: int, steps: int) -> Request:
        """At least `n` users of the most promising groups; none once the gap is well known."""
        if self._n_complete == len(self._positions):
            return NOTHING
        if not self._evidence.users_scored:
            return self._cheapest(n)
        if self._evidence.users_scored >= self._fit_at:
            self._refit()
            self._is_done = self._is_close_enough()
        if self._is_done:
            return NOTHING
        best = best_rated(self._rates, n)
        shares = share_out(
            self._groups, self._beliefs, self._ends, best, self._rates[best], n, steps
        )
        if not shares.any():
            # equal values so far, which promise nothing, and are still too few to believe in
            return self._cheapest(n)
        return Request(self._positions[best[shares > 0]], shares[shares > 0])

    def update(self, groups: IntArray) -> None:
        """Take in newly scored users, whichever groups they were asked for with."""
        n_scored = self._evidence.n_scored[self._groups.cells]
        touched = np.flatnonzero(n_scored != self._n_scored)
        self._n_scored = n_scored
        cells = self._groups.cells[touched]
        complete = cells[n_scored[touched] == self._groups.n_users[cells]]
        self._n_complete += len(complete)
        if len(complete):
            self._move_ends(self._evidence.values_of_cells(complete)[self.metrics])
        self._rate(touched)

    def may_be_larger_by(self) -> FloatArray:
        """(n_metrics,), how much larger the exact gap may be than the one found.

        It is not larger with the confidence asked for, according to the posterior. NaN
        where all values seen are equal, from which nothing follows for the others.
        """
        if self._n_complete == len(self._positions):
            return np.zeros(len(self.metrics))
        self._refit(BOUND_SWEEPS)
        is_flat = [posterior.is_flat for posterior in self._posteriors]
        return np.where(is_flat, np.nan, self._bounds())

    @property
    def _gaps(self) -> FloatArray:
        return gaps_between(self._highest, self._lowest)

    def _cheapest(self, n: int) -> Request:
        """The next `n` users of the smallest groups."""
        n_left = self._groups.n_users[self._groups.cells] - self._n_scored
        before = np.cumsum(n_left[self._first]) - n_left[self._first]
        shares = np.minimum(n_left[self._first], n - before)
        first = self._first[shares > 0]
        return Request(self._positions[first], shares[shares > 0])

    def _rate(self, at: IntArray) -> None:
        self._rates[at] = rate_groups(self._groups, self._beliefs, self._ends, at, 0)

    def _move_ends(self, values: FloatArray) -> None:
        """Take in the values of groups, (n_metrics, n_groups), that are complete now."""
        above = np.fmax(self._highest, np.fmax.reduce(values, axis=1))
        below = np.fmin(self._lowest, np.fmin.reduce(values, axis=1))
        if (above > self._highest).any() or (below < self._lowest).any():
            self._highest, self._lowest = above, below
            self._update_beliefs()
            self._rate(np.arange(len(self._rates)))

    def _refit(self, sweeps: int = SWEEPS) -> None:
        self._fit_at = self._evidence.users_scored * REFIT_GROWTH
        for posterior in self._posteriors:
            posterior.fit(sweeps)
        self._update_beliefs()
        self._rate(np.arange(len(self._rates)))

    def _update_beliefs(self) -> None:
        of_metrics = [posterior.belief for posterior in self._posteriors]
        self._beliefs = Beliefs(*(np.concatenate(parts) for parts in zip(*of_metrics, strict=True)))
        # before any group is fully scored, both ends are what all users have
        overall = np.array([posterior.overall for posterior in self._posteriors])
        is_known = np.isfinite(self._highest)
        noise = np.sqrt(self._beliefs.noise / self._evidence.space.min_users)
        self._ends = Ends(
            np.where(is_known, self._highest, overall),
            np.where(is_known, self._lowest, overall),
            np.maximum(noise, self._gaps),
        )

    def _is_close_enough(self) -> bool:
        # a metric without any spread has no gap to look for
        to_find = [
            i for i, posterior in enumerate(self._posteriors) if not posterior.is_surely_flat
        ]
        allowed = self._tolerance * self._gaps
        # a few groups are often too many, and cheap to look at
        likely = best_rated(self._rates, LIKELY)
        for i in to_find:
            mean, spread = self._posteriors[i].group_values(likely)
            above = risk_beyond(mean, spread, self._ends.highest[i] + allowed[i])
            below = risk_beyond(-mean, spread, allowed[i] - self._ends.lowest[i])
            if max(above, below) > self._risk:
                return False
        return bool((self._bounds() <= allowed)[to_find].all())

    def _bounds(self) -> FloatArray:
        at = np.flatnonzero(self._n_scored < self._groups.n_users[self._groups.cells])
        bounds = []
        for i, posterior in enumerate(self._posteriors):
            mean, spread = posterior.group_values(at)
            above = excess_bound(mean, spread, float(self._ends.highest[i]), self._risk)
            below = excess_bound(-mean, spread, -float(self._ends.lowest[i]), self._risk)
            bounds.append(above + below)
        return np.array(bounds)


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
        self._fit_at = self._evidence.users_scored * REFIT_FINDINGS_GROWTH
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
