"""The ledger in memory: nobody is paid for twice."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import ScoringError
from fairrec.inputs.candidates import CandidateLists
from fairrec.scoring.ledger import Ledger
from fairrec.scoring.model import FunctionModel
from fairrec.scoring.scorer import ModelScorer, TableScorer
from tests.scoring.small_candidates import NotedFunction, candidates_of, many_candidates, score_of

CANDIDATES, USERS = many_candidates(40)
LENGTHS = np.diff(CANDIDATES.offsets)
ALL = np.arange(40)


def open_ledger(
    function: NotedFunction,
    candidates: CandidateLists = CANDIDATES,
    users: pl.Series = USERS,
    n_rows_per_call: int = 10,
) -> Ledger:
    """A ledger in memory."""
    return Ledger(
        candidates, ModelScorer(FunctionModel(function), candidates, users), n_rows_per_call
    )


def expected(lists: IntArray) -> FloatArray:
    """The scores pair by pair."""
    return np.array(
        [
            score_of(USERS[int(one)], CANDIDATES.item_ids[int(CANDIDATES.items[row])])
            for one in lists
            for row in range(CANDIDATES.offsets[one], CANDIDATES.offsets[one + 1])
        ]
    )


def test_each_user_is_paid_for_once_and_counted():
    candidates, users = candidates_of({"a": [1, 2, 3], "b": [1], "c": [2, 3], "d": [3]})
    function = NotedFunction()
    ledger = open_ledger(function, candidates, users, n_rows_per_call=100)
    ledger.pay_for(np.array([2, 0, 2]))
    assert function.calls == [["c", "a"]]
    assert (ledger.users, ledger.rows, ledger.calls) == (2, 5, 1)
    ledger.pay_for(np.array([0, 1, 2]))
    assert function.calls == [["c", "a"], ["b"]]
    assert (ledger.users, ledger.rows, ledger.calls) == (3, 6, 2)
    assert ledger.is_scored.tolist() == [True, True, True, False]
    assert ledger.users_before == 0
    assert ledger.seconds > 0


def test_what_is_paid_for_is_free_the_next_time():
    function = NotedFunction()
    ledger = open_ledger(function)
    first = ledger.pay_for(ALL)
    n_calls, seconds = ledger.calls, ledger.seconds
    np.testing.assert_array_equal(ledger.pay_for(ALL), first)
    assert (ledger.calls, ledger.seconds) == (n_calls, seconds)


def test_calls_are_as_large_as_allowed_and_in_the_order_asked():
    lengths = [4, 4, 3, 25, 1, 9, 1, 1]
    candidates, users = candidates_of({u: list(range(n)) for u, n in enumerate(lengths)})
    function = NotedFunction()
    open_ledger(function, candidates, users).pay_for(np.arange(8))
    # 4+4, 3, a list too long for any call, 1+9, 1+1
    assert function.calls == [[0, 1], [2], [3], [4, 5], [6, 7]]


@pytest.mark.parametrize(
    ("n_lists", "concurrency", "expected"),
    [
        (128, 8, [16] * 8),
        (130, 8, [17, 17, *[16] * 6]),
        (40, 8, [20, 20]),
        (15, 8, [15]),
        (128, 1, [100, 28]),
        (128, 3, [43, 43, 42]),
        # as many as fit, where that keeps all calls busy
        (850, 8, [*[100] * 8, 50]),
    ],
)
def test_calls_side_by_side_share_what_is_asked_but_for_small_calls(n_lists, concurrency, expected):
    candidates, users = candidates_of({f"u{i:03}": [1, 2] for i in range(n_lists)})
    function = NotedFunction()
    scorer = ModelScorer(FunctionModel(function), candidates, users)
    with Ledger(candidates, scorer, 200, concurrency=concurrency) as ledger:
        ledger.pay_for(np.arange(n_lists))
    assert sorted(map(len, function.calls), reverse=True) == expected
    assert sorted(user for call in function.calls for user in call) == users.to_list()


def test_a_list_without_candidates_costs_nothing():
    candidates, users = candidates_of({"a": [], "b": [1], "c": []})
    function = NotedFunction()
    ledger = open_ledger(function, candidates, users)
    assert ledger.pay_for(np.array([0, 2])).tolist() == []
    assert (ledger.users, ledger.calls, function.calls) == (0, 0, [])
    assert ledger.pay_for(np.array([2, 1, 0])).tolist() == [score_of("b", 1)]
    assert (ledger.users, function.calls) == (1, [["b"]])


def test_no_lists_at_all_are_no_call():
    ledger = open_ledger(NotedFunction())
    assert ledger.pay_for(np.empty(0, dtype=np.int64)).tolist() == []
    assert ledger.calls == 0


@given(
    st.lists(st.lists(st.integers(0, 39), max_size=30), min_size=1, max_size=6),
    st.integers(1, 60),
)
def test_whatever_is_asked_scores_are_those_of_the_pairs_and_nobody_is_asked_twice(
    requests: list[list[int]], n_rows_per_call: int
):
    function = NotedFunction()
    ledger = open_ledger(function, n_rows_per_call=n_rows_per_call)
    for request in requests:
        lists = np.array(request, dtype=np.int64)
        np.testing.assert_array_equal(ledger.pay_for(lists), expected(lists))
    wanted = {USERS[one] for request in requests for one in request if LENGTHS[one]}
    assert sorted(function.asked) == sorted(wanted)
    assert ledger.users == len(wanted)
    assert ledger.calls == len(function.calls)
    assert ledger.rows == sum(LENGTHS[USERS.to_list().index(user)] for user in wanted)


def test_a_failure_keeps_the_calls_before():
    function = NotedFunction(fails_at_call=2)
    ledger = open_ledger(function)
    with pytest.raises(ScoringError, match="went away"):
        ledger.pay_for(ALL)
    assert ledger.calls == 2
    assert ledger.users == len(function.asked) > 0
    function.fails_at_call = None
    np.testing.assert_array_equal(ledger.pay_for(ALL), expected(ALL))
    assert len(function.asked) == len(set(function.asked))


def test_a_scorer_that_keeps_its_array_does_not_change_scores_afterwards():
    buffer = np.zeros(1000)

    class Reusing:
        def ask(self, lists: IntArray) -> FloatArray:
            part = buffer[: int(LENGTHS[lists].sum())]
            part[:] = lists[0]
            return part

    ledger = Ledger(CANDIDATES, Reusing(), n_rows_per_call=1)
    np.testing.assert_array_equal(ledger.pay_for(ALL), np.repeat(ALL, LENGTHS))


def test_scores_of_a_table_go_through_unchanged():
    scores = np.random.default_rng(0).random(int(LENGTHS.sum()))
    candidates = CandidateLists(
        CANDIDATES.offsets, CANDIDATES.items, scores, None, CANDIDATES.item_ids
    )
    ledger = Ledger(candidates, TableScorer(candidates), n_rows_per_call=7)
    np.testing.assert_array_equal(ledger.pay_for(ALL), scores)
    backwards = np.concatenate(
        [np.split(scores, CANDIDATES.offsets[1:-1])[one] for one in ALL[::-1]]
    )
    np.testing.assert_array_equal(ledger.pay_for(ALL[::-1]), backwards)


def test_a_scorer_of_our_own_that_returns_too_little_is_caught():
    class Short:
        def ask(self, lists: IntArray) -> FloatArray:
            return np.zeros(1)

    with pytest.raises(RuntimeError, match=r"shape \(1,\)"):
        Ledger(CANDIDATES, Short()).pay_for(ALL)
