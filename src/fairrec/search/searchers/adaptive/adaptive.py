"""Our searcher: score next where another user is expected to improve the answer most.

Two goals share the users: the gap between full combinations, and findings among all groups of
the lattice. Each asks for a few users of some groups at a time, enough to fill the calls of the
recommender that can be under way, so that a group that disappoints is abandoned; each takes its
turn when it has had fewer users than the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fairrec.core.arrays import FloatArray
from fairrec.search.evidence import Evidence
from fairrec.search.searcher import NOTHING, Request, Task, require, searcher
from fairrec.search.searchers.adaptive.findings_goal import FindingsGoal
from fairrec.search.searchers.adaptive.gap_goal import GapGoal


@dataclass(frozen=True, slots=True)
class AdaptiveParameters:
    """What can be set.

    Parameters
    ----------
    tolerance : the search for the gap ends when the gap is at most so much larger than found,
        as a share of it
    confidence : of that bound
    findings : share of the users spent on findings among all groups, 0 for none
    steps : a group is scored in about so many steps
    at_once : users asked for together, for each call of the recommender that can be under way;
        fewer make more and smaller calls, and save a few users
    """

    tolerance: float = 0.01
    confidence: float = 0.95
    findings: float = 0.5
    steps: int = 32
    at_once: int = 16

    def __post_init__(self) -> None:
        require(0 <= self.tolerance < math.inf, "tolerance", self.tolerance, "a number from 0")
        require(
            0 < self.confidence < 1, "confidence", self.confidence, "a number above 0 and below 1"
        )
        require(0 <= self.findings < 1, "findings", self.findings, "a share from 0, below 1")
        for name, number in (("steps", self.steps), ("at_once", self.at_once)):
            require(number >= 1, name, number, "a whole number from 1")


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
