"""The ledger: nobody is paid for twice, and nothing that came back is lost."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import ScoringError
from fairrec.core.signals import interrupts_held
from fairrec.inputs.candidates import CandidateLists
from fairrec.scoring.ledger import Ledger
from fairrec.scoring.model import FunctionModel
from fairrec.scoring.scorer import ModelScorer
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


def test_a_failure_keeps_those_under_way_and_begins_no_more(tmp_path: Path):
    candidates, users = many_candidates(60)
    function = NotedFunction()
    begun = []
    gate = threading.Event()

    def fails_in_the_middle(user_ids, item_ids):
        begun.append(user_ids[0])
        if len(begun) == 4:
            gate.set()
            raise ConnectionError("the service went away")
        if len(begun) > 1:
            gate.wait(10)
            time.sleep(0.05)
        return function(user_ids, item_ids)

    stopped = []
    scorer = ModelScorer(FunctionModel(fails_in_the_middle), candidates, users)
    file = tmp_path / "ledger.db"
    with Ledger(candidates, scorer, 4, file, "m", users, 4, lambda: stopped.append(True)) as ledger:
        with pytest.raises(ScoringError, match="ConnectionError: the service went away") as caught:
            ledger.pay_for(np.arange(60))
        assert ledger.users == len(function.asked)
        # three others were under way when it failed
        assert 3 <= len(function.calls) <= len(begun) - 1
    assert len(begun) <= 8
    assert stopped
    n = len(function.asked)
    assert f"The scores of {n} users are kept in {file}" in str(caught.value)
    with Ledger(candidates, scorer, 4, file, "m", users) as again:
        assert again.users_before == n


def test_an_interrupt_takes_effect_after_what_it_may_not_break():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            done.append("all of it")
        done.append("nothing after it")
    assert done == ["all of it"]


def test_an_interrupt_waits_for_those_under_way_and_says_what_is_kept(tmp_path: Path):
    candidates, users = many_candidates(60)
    function, begun = NotedFunction(), []
    three_begun = threading.Event()

    def slow(user_ids, item_ids):
        begun.append(user_ids[0])
        if len(begun) == 3:
            three_begun.set()
        time.sleep(0.2)
        return function(user_ids, item_ids)

    def interrupt() -> None:
        three_begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    scorer, file = ModelScorer(FunctionModel(slow), candidates, users), tmp_path / "ledger.db"
    with Ledger(candidates, scorer, 4, file, "m", users, concurrency=3) as ledger:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt) as caught:
            ledger.pay_for(np.arange(60))
        assert (ledger.calls, len(begun)) == (3, 3)
    kept = f"Interrupted. The scores of {len(function.asked)} users are kept in {file}: give the"
    assert str(caught.value).startswith(kept)
