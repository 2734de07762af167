"""Calls side by side: order changes nothing, and nothing that came back is lost."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from fairrec.core.errors import ScoringError
from fairrec.scoring.ledger import Ledger, interrupts_held
from fairrec.scoring.model import FunctionModel
from fairrec.scoring.scorer import ModelScorer
from tests.scoring.small_candidates import NotedFunction, many_candidates


def test_the_order_in_which_calls_end_changes_nothing(tmp_path: Path):
    candidates, users = many_candidates(300)
    lists = np.arange(300)
    one_by_one = Ledger(candidates, ModelScorer(FunctionModel(NotedFunction()), candidates, users))
    rng = np.random.default_rng(0)
    delays = {f"u{user}": delay for user, delay in enumerate(rng.uniform(0, 0.004, 300))}
    noted = NotedFunction()

    def slow(user_ids, item_ids):
        time.sleep(delays[user_ids[0]])
        return noted(user_ids, item_ids)

    scorer = ModelScorer(FunctionModel(slow), candidates, users)
    with Ledger(
        candidates, scorer, 12, tmp_path / "ledger.db", "m", users, concurrency=6
    ) as ledger:
        np.testing.assert_array_equal(ledger.pay_for(lists), one_by_one.pay_for(lists))
        assert ledger.calls == len(noted.calls)
    assert sorted(noted.asked) == sorted(set(noted.asked))
    starts = [int(call[0][1:]) for call in noted.calls]
    assert starts != sorted(starts), "all ended in the order they began"


def test_no_more_are_begun_and_not_kept_than_allowed():
    candidates, users = many_candidates(60)
    lock = threading.Lock()
    function = NotedFunction()
    open_now, most = 0, 0

    def noted(user_ids, item_ids):
        nonlocal open_now, most
        with lock:
            open_now += 1
            most = max(most, open_now)
        time.sleep(0.001)
        return function(user_ids, item_ids)

    def kept() -> None:
        nonlocal open_now
        time.sleep(0.003)
        with lock:
            open_now -= 1

    scorer = ModelScorer(FunctionModel(noted), candidates, users)
    with Ledger(candidates, scorer, 4, concurrency=3) as ledger:
        ledger.on_paid = kept
        ledger.pay_for(np.arange(60))
    assert len(function.asked) == len(set(function.asked)) == ledger.users
    assert most == 3


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


def test_an_interrupt_waits_for_those_under_way():
    candidates, users = many_candidates(60)
    function = NotedFunction()
    n_begun = 0
    three_begun = threading.Event()

    def slow(user_ids, item_ids):
        nonlocal n_begun
        n_begun += 1
        if n_begun == 3:
            three_begun.set()
        time.sleep(0.3)
        return function(user_ids, item_ids)

    def interrupt() -> None:
        three_begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    scorer = ModelScorer(FunctionModel(slow), candidates, users)
    with Ledger(candidates, scorer, 4, concurrency=3) as ledger:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            ledger.pay_for(np.arange(60))
        assert (ledger.calls, n_begun) == (3, 3)


def test_an_interrupt_takes_effect_after_what_it_may_not_break():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            done.append("all of it")
        done.append("nothing after it")
    assert done == ["all of it"]


def test_in_another_thread_there_is_nothing_to_hold():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with interrupts_held():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
