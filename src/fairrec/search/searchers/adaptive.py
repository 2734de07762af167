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

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.search.evidence import Evidence, gaps_between
from fairrec.search.searcher import NOTHING, Request, Task, hyper_dataclass, searcher
from fairrec.search.searchers.findings_goal import FindingsGoal
from fairrec.search.searchers.posterior import (
    SWEEPS,
    Beliefs,
    Ends,
    Groups,
    Posterior,
    best_rated,
    excess_bound,
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
