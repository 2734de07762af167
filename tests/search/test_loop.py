"""The loop of a search, and what it may have missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from pytest import approx

from fairrec.groups.grouping import EVERYONE, Grouping
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.search.evidence import Evidence, FoundGap
from fairrec.search.loop import FIRST_USERS, REFERENCE_TIME, Searched, SearchOutcome, search
from fairrec.search.options import Budget, Search
from fairrec.search.searcher import NOTHING, SEARCHERS, NoHyperParameters, Request, Task, searcher
from tests.search.search_worlds import evidence_of, product_space, space_of


class Script:
    """Asks for what is written down, and notes what it is told."""

    def __init__(self, task: Task, requests: list[Request], told: list[tuple[int, int]]) -> None:
        self._metric, self._requests, self._told = task.metrics[0], iter(requests), told

    def ask(self) -> Request:
        return next(self._requests, NOTHING)

    def tell(self, request: Request, evidence: Evidence) -> None:
        self._told.append((self._metric, evidence.users_scored))


Play = Callable[..., SearchOutcome]


@pytest.fixture
def play() -> Iterator[Play]:
    """Search with a script of groups, each with a number of users or all of them."""
    requests: list[Request] = []
    told: list[tuple[int, int]] = []

    @searcher("script", "asks for what is written down")
    def build(task: Task, hyper: NoHyperParameters) -> Script:
        return Script(task, requests, told)

    def run(evidence: Evidence, *asked: list[int], n_users: int | None = None, **settings: object):
        requests[:] = [
            Request(np.array(groups), None if n_users is None else np.full(len(groups), n_users))
            for groups in asked
        ]
        run.told = told
        return search("script", evidence, NoHyperParameters(), **settings)

    yield run
    SEARCHERS.remove("script")


def batches_of(space: Grouping, seconds_each: float = 0.0):
    """Evidence of equal values, the batches it is asked for, and a clock that they move."""
    batches: list[list[int]] = []

    def measure(users: np.ndarray) -> np.ndarray:
        batches.append(users.tolist())
        return np.zeros((1, len(users)))

    def clock() -> float:
        return seconds_each * sum(map(len, batches))

    return Evidence(space, measure, 1, 0), batches, clock


def test_groups_that_overlap_share_a_batch_and_their_users(play):
    gender = [0] * 4 + [1] * 4
    space = space_of([gender, [0, 0, 1, 1] * 2], (2, 2), depth=1)
    groups = [
        at for at, codes in enumerate(space.lattice.codes.tolist()) if codes in ([0, -1], [-1, 0])
    ]
    evidence, batches, _ = batches_of(space)
    play(evidence, [*groups, EVERYONE])
    # four of the first, of the second those two that are left, then the other two
    assert [len(batch) for batch in batches] == [8]
    assert sorted(batches[0]) == list(range(8))
    one_by_one, in_turn, _ = batches_of(space)
    play(one_by_one, *([group] for group in (*groups, EVERYONE)))
    assert [len(batch) for batch in in_turn] == [4, 2, 2]
    assert [user for batch in in_turn for user in batch] == batches[0]


def test_searchers_of_single_metrics_take_turns_and_see_what_all_have_paid_for(play):
    space = product_space((4,), users_each=5)
    values = np.arange(40.0).reshape(2, 20)
    play(evidence_of(space, values), [space.full[0]], [space.full[1]])
    # both read the same script; what one has asked for costs the other nothing
    assert play.told == [(0, 5), (1, 5), (0, 10), (1, 10)]


def test_a_searcher_is_told_also_of_what_was_scored_when_the_budget_ended(play):
    space = product_space((4,), users_each=5)
    outcome = play(evidence_of(space, np.zeros(20)), space.full.tolist(), budget=Budget(users=12))
    assert outcome.ending == "users spent"
    assert play.told == [(0, 12)]


def test_where_time_is_limited_the_first_batch_is_small_and_none_takes_half_of_the_rest(play):
    space = product_space((2,), users_each=500)
    evidence, batches, clock = batches_of(space, seconds_each=0.01)
    play(evidence, [EVERYONE], budget=Budget(seconds=2.0), clock=clock)
    assert len(batches[0]) == FIRST_USERS
    spent = 0.0
    for batch in batches:
        if spent and len(batch) > 1:
            assert 0.01 * len(batch) <= (2.0 - spent) / 2 + 1e-9
        spent += 0.01 * len(batch)
    assert spent == approx(2.0, abs=0.011)


def test_no_batch_of_the_reference_sample_begins_after_its_part_of_the_time(play):
    space = product_space((2,), users_each=500)
    evidence, batches, clock = batches_of(space, seconds_each=0.01)
    play(evidence, [EVERYONE], budget=Budget(seconds=2.0), n_reference=900, clock=clock)
    until = np.cumsum([len(batch) for batch in batches])
    is_last = until == evidence.n_reference
    assert is_last.sum() == 1
    begins = 0.01 * (until[is_last][0] - len(batches[int(np.argmax(is_last))]))
    assert begins < REFERENCE_TIME * 2.0 <= 0.01 * evidence.n_reference
    assert evidence.n_reference < evidence.users_scored
    assert evidence.is_scored[evidence.is_reference].all()


FOUR_GROUPS = np.repeat([0.2, 0.5, 0.6, 0.9], 5)


NDCG = parse_metric("ndcg@5")


ENDLESS = replace(NDCG, metric=replace(NDCG.metric, bounds=None))


class BoundedBy:
    """A searcher with nothing to say but how much it may have missed."""

    confidence = 0.9

    def __init__(self, bound: float) -> None:
        self.bound = bound

    def may_be_larger_by(self):
        return np.array([self.bound])


def outcome_of(users: int | None = None, min_users: int = 1) -> SearchOutcome:
    """Four groups in a row, as far as the budget goes."""
    evidence = evidence_of(product_space((4,), users_each=5, min_users=min_users), FOUR_GROUPS)
    return search("exact", evidence, NoHyperParameters(), budget=Budget(users=users))


def searched(outcome: SearchOutcome, metric: MetricAtK = NDCG) -> Searched:
    return Searched((metric,), Search("exact"), outcome, ledger=None)


def test_where_every_group_is_known_or_none_is_large_enough_no_searcher_is_asked():
    assert searched(outcome_of()).may_be_larger_by() == ([0.0], None)
    assert searched(outcome_of(min_users=6)).may_be_larger_by() == ([None], None)


@pytest.mark.parametrize(
    ("metric", "bound", "expected"),
    [
        (NDCG, 0.2, 0.2),
        # values lie between 0 and 1, and 0.3 of that is found
        (NDCG, 0.9, 1 - 0.3),
        (NDCG, -0.1, 0.0),
        (NDCG, np.nan, None),
        (ENDLESS, 7.0, 7.0),
    ],
)
def test_the_bound_of_a_searcher_stays_within_the_range_of_the_metric(metric, bound, expected):
    outcome = outcome_of(users=12)
    outcome.history.append(FoundGap(10, (0.3,), 1))
    (found,), confidence = searched(
        replace(outcome, searchers=(BoundedBy(bound),)), metric
    ).may_be_larger_by()
    assert found == (None if expected is None else approx(expected))
    assert confidence == 0.9
