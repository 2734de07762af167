"""The loop of a search, which owns budget, scoring and history; and what a search came to."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fairrec.core.arrays import IntArray
from fairrec.core.errors import TimeOverError
from fairrec.groups.grouping import EVERYONE
from fairrec.metrics import MetricAtK
from fairrec.scoring.ledger import Ledger
from fairrec.search.evidence import Evidence, FoundGap, gaps_between
from fairrec.search.options import Budget, Search
from fairrec.search.searcher import SEARCHERS, Bounded, Request, Searcher, Task

BATCH_USERS = 256
"""Users scored in one call; after each the budget is looked at."""

FIRST_USERS = 8
"""Users in the first batch where time is limited, to see how long one takes."""
REFERENCE_TIME = 0.2
"""Part of a limited time that the reference sample may take."""

ALPHA = 0.05
"""The significance level where nothing is tested afterwards."""

Ending = Literal["finished", "users spent", "time spent"]


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What a search came to."""

    evidence: Evidence
    history: list[FoundGap]
    ending: Ending
    seconds: float
    searchers: tuple[Searcher, ...]


class _Spent(Exception):  # noqa: N818 - an ending, not an error
    """The budget is used up; its argument is the ending."""


def search(
    name: str,
    evidence: Evidence,
    hyper: Any,
    *,
    seed: int = 0,
    alpha: float = ALPHA,
    budget: Budget | None = None,
    n_reference: int = 0,
    metrics: Sequence[int] | None = None,
    batch_users: int = BATCH_USERS,
    n_calls: int = 1,
    advance: Callable[[int], None] = lambda users: None,
    watch: Callable[[Searcher], Searcher] = lambda searcher: searcher,
    clock: Callable[[], float] = time.monotonic,
) -> SearchOutcome:
    """Search with a registered searcher until it has finished or the budget is spent.

    A searcher that looks at one metric is built once for each, and they take turns; what one
    pays for serves all.

    Parameters
    ----------
    alpha : the significance level at which groups will be tested
    n_reference : users scored first, at random among all
    metrics : those to search by; all by default
    n_calls : calls of the recommender that can be under way at once
    advance : called with the number of users scored after each batch
    watch : may stand something between the loop and each searcher, such as a stop-watch
    """
    kind = SEARCHERS[name]
    chosen = list(range(len(evidence.totals)) if metrics is None else metrics)
    parts = [chosen] if kind.searches_all else [[metric] for metric in chosen]
    tasks = [
        Task(evidence, part, alpha, np.random.default_rng([seed, 2, number]), n_calls)
        for number, part in enumerate(parts)
    ]
    searchers = [watch(kind.build(task, hyper)) for task in tasks]
    scoring = _Scoring(evidence, budget or Budget(), batch_users, clock)
    ending: Ending = "finished"
    try:
        for batch in scoring.batches(searchers, n_reference):
            try:
                evidence.score(batch)
            except TimeOverError as error:
                if not evidence.users_scored:
                    raise
                raise _Spent("time spent") from error
            scoring.note(batch)
            advance(evidence.users_scored)
    except _Spent as spent:
        ending = spent.args[0]
        evidence.n_reference = min(evidence.n_reference, evidence.users_scored)
    return SearchOutcome(evidence, scoring.history, ending, scoring.seconds, tuple(searchers))


class _Scoring:
    """Says who is scored next as long as the budget lasts, and keeps the history."""

    def __init__(
        self,
        evidence: Evidence,
        budget: Budget,
        batch_users: int,
        clock: Callable[[], float],
    ) -> None:
        n_metrics = len(evidence.totals)
        self.history: list[FoundGap] = []
        self._evidence, self._budget, self._batch_users = evidence, budget, batch_users
        self._clock, self._started = clock, clock()
        self._is_eligible = evidence.space.cells.n_users >= evidence.space.min_users
        self._highest, self._lowest = np.full(n_metrics, -np.inf), np.full(n_metrics, np.inf)

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    def batches(self, searchers: Sequence[Searcher], n_reference: int) -> Iterator[IntArray]:
        """The users to score next, who must be scored before the next batch is asked for.

        First the reference sample, then what the searchers ask for in turn.
        """
        evidence = self._evidence
        evidence.n_reference = min(n_reference, evidence.space.n_users)
        yield from self._reference(evidence.next_users(EVERYONE, evidence.n_reference))
        evidence.n_reference = evidence.users_scored
        active = list(searchers)
        while active:
            for one in list(active):
                request = one.ask()
                if not len(request.groups):
                    active.remove(one)
                    continue
                try:
                    yield from self._within_budget(self._requested_users(request))
                except _Spent:
                    one.tell(request, evidence)
                    raise
                one.tell(request, evidence)

    def note(self, batch: IntArray) -> None:
        """Add the groups that users just scored have completed to the history."""
        evidence = self._evidence
        cells, from_last = np.unique(evidence.space.cells.of_user[batch][::-1], return_index=True)
        is_new = self._is_eligible[cells] & evidence.is_complete[cells]
        cells, n_after = cells[is_new], from_last[is_new]
        values = evidence.values_of_cells(cells)
        for at in np.argsort(-n_after):
            self._highest = np.fmax(self._highest, values[:, at])
            self._lowest = np.fmin(self._lowest, values[:, at])
            gaps = gaps_between(self._highest, self._lowest)
            users = evidence.users_scored - int(n_after[at])
            self.history.append(FoundGap(users, tuple(gaps.tolist()), int(cells[at])))

    def _reference(self, users: IntArray) -> Iterator[IntArray]:
        """The reference sample, for no more than its part of the time."""
        seconds = self._budget.seconds
        while len(users) and (seconds is None or self.seconds < REFERENCE_TIME * seconds):
            n = self._most_users()
            yield from self._within_budget(users[:n])
            users = users[n:]

    def _most_users(self) -> int:
        """Users in a batch: as many as will not take half of the time that is left."""
        if self._budget.seconds is None:
            return self._batch_users
        if not self._evidence.users_scored:
            return min(self._batch_users, FIRST_USERS)
        pace = self._evidence.users_scored / max(self.seconds, 1e-9)
        left = max(self._budget.seconds - self.seconds, 0.0)
        return max(1, min(self._batch_users, int(pace * left / 2)))

    def _within_budget(self, users: IntArray) -> Iterator[IntArray]:
        """These users in batches; the end of the budget is raised."""
        budget = self._budget
        while len(users):
            batch = users[: self._most_users()]
            if budget.seconds is not None and self.seconds >= budget.seconds:
                raise _Spent("time spent")
            if budget.users is not None:
                batch = batch[: max(budget.users - self._evidence.users_scored, 0)]
                if not len(batch):
                    raise _Spent("users spent")
            yield batch
            users = users[len(batch) :]

    def _requested_users(self, request: Request) -> IntArray:
        """Users of all groups of a request; those whom several groups share come once."""
        evidence, cells = self._evidence, self._evidence.space.cells
        users: list[IntArray] = []
        waiting = np.zeros(len(cells), dtype=np.int64)
        for at, group in enumerate(request.groups.tolist()):
            n = evidence.space.n_users if request.n_users is None else int(request.n_users[at])
            users.append(evidence.next_users(group, n, waiting))
            np.add.at(waiting, cells.of_user[users[-1]], 1)
        return np.concatenate(users)


@dataclass(frozen=True, slots=True)
class Searched:
    """How users came to be scored."""

    metrics: tuple[MetricAtK, ...]
    options: Search
    outcome: SearchOutcome
    ledger: Ledger
    """Closed, with what was paid for."""
    model_identity: str = ""
    """The model as its ledger names it; empty where the scores are in the table."""
    faults: dict[str, int] = field(default_factory=dict)
    """What went wrong and was tried again: kind -> number."""
    has_table: bool = False
    """Whether every score was in a table, so that no search was needed."""

    @property
    def n_full(self) -> int:
        """Intersections of all attributes with enough users."""
        return len(self.outcome.evidence.space.full)

    @property
    def n_fully_scored(self) -> int:
        """Those of them of which every user is scored."""
        evidence = self.outcome.evidence
        return int(evidence.is_complete[evidence.space.cell_of_full].sum())

    def may_be_larger_by(self) -> tuple[list[float | None], float | None]:
        """How much larger each exact gap may be, None if unbounded, and with which confidence."""
        n_metrics = len(self.metrics)
        if not self.n_full:
            return [None] * n_metrics, None
        if self.n_fully_scored == self.n_full:
            return [0.0] * n_metrics, None
        history = self.outcome.history
        gaps = history[-1].gaps if history else (0.0,) * n_metrics
        for searcher in self.outcome.searchers:
            if isinstance(searcher, Bounded):
                bounds = searcher.may_be_larger_by().tolist()
                within = map(_within, self.metrics, gaps, bounds)
                return [*within], searcher.confidence
        return [None] * n_metrics, None


def _within(metric: MetricAtK, gap: float, bound: float) -> float | None:
    """No gap is larger than the range of the metric; None where there is no bound."""
    if math.isnan(bound):
        return None
    low, high = metric.metric.bounds or (-math.inf, math.inf)
    return max(min(bound, high - low - gap), 0.0)
