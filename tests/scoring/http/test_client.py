"""An audit of a service that misbehaves: the same result, or a clear error that loses nothing."""

from __future__ import annotations

import json
import math
import socket
import sqlite3
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairrec
from fairrec.core.errors import ScoringError, UnavailableError
from fairrec.scoring import http_client
from fairrec.scoring.http_client import Pace, from_json, to_json
from fairrec.search.options import Search
from tests.scoring.http.faulty_server import N_FAULTS, N_GOOD
from tests.scoring.http.hostile_servers import Act, hostile_server, replied, say
from tests.scoring.http.served_world import (
    N_CALLS,
    N_USERS,
    ROWS_PER_CALL,
    FaultyServer,
    answer_of,
    audit,
    in_process,
)

QUICK = {"rows_per_call": ROWS_PER_CALL}
PAIR = {"user_id": ["a"], "item_id": ["b"]}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(http_client, "LONGEST_WAIT", 0.2)


def endpoint(url: str, **options: Any) -> fairrec.Endpoint:
    return fairrec.Endpoint(url, **{"protocol": "json", **QUICK, **options})


def users_in(ledger: Path) -> list[str]:
    with sqlite3.connect(ledger) as connection:
        return [user for (user,) in connection.execute("SELECT user FROM scored")]


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return answer_of(audit(in_process))


@pytest.mark.parametrize(
    ("mode", "kind", "options"),
    [
        ("plain", None, {}),
        ("random-500", "HTTP 500", {}),
        ("busy", "HTTP 429", {}),
        ("slow", "timeout", {"timeout": 0.7}),
        ("dripping", "timeout", {"timeout": 0.7}),
        ("reset", "connection", {}),
        ("cut-off", "connection", {}),
        ("truncated", "broken JSON", {}),
    ],
)
def test_faults_that_pass_change_nothing(
    mode, kind, options, server: FaultyServer, expected, tmp_path
):
    url, tag = server.address(mode)
    ledger = tmp_path / "ledger.db"
    started = time.monotonic()
    result = audit(endpoint(url, **options), search=Search("exact", ledger=ledger))
    assert answer_of(result) == expected
    found = result.summary.search
    assert (found.calls, found.users_paid) == (N_CALLS, N_USERS)
    assert len(users_in(ledger)) == len(set(users_in(ledger))) == N_USERS
    assert set(found.faults) == ({kind} if kind else set())
    if kind == "timeout":
        # on a busy machine others may be late too
        assert found.faults[kind] >= N_FAULTS
    else:
        assert len(server.batches(tag)) == N_CALLS + sum(found.faults.values())
    if kind in ("HTTP 429", "connection", "broken JSON"):
        assert found.faults[kind] == N_FAULTS
    if mode == "busy":
        # all of the first calls came at once and were asked to wait; nobody came back earlier
        assert time.monotonic() - started >= 1


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("nan", f"returned nan for 1 of {ROWS_PER_CALL} pairs, of user 'u"),
        ("always-truncated", "given up after 3 attempts (3 x broken JSON)"),
        ("compressed", "the reply is compressed (gzip)"),
        ("redirect", "it redirects to http://localhost:"),
        ("huge-unannounced", "the reply has more than 1,000,000 bytes"),
        ("busy-for-a-day", "it asks to wait 86,400 s"),
        ("echo", "HTTP 400"),
    ],
)
def test_faults_that_stay_are_said_and_what_was_paid_for_is_kept(
    mode, says, server: FaultyServer, expected, tmp_path, monkeypatch
):
    url, _ = server.address(mode)
    ledger = tmp_path / "ledger.db"
    how = Search("exact", ledger=ledger)
    monkeypatch.setattr(http_client, "MOST_BYTES", 1_000_000)
    with pytest.raises(ScoringError) as caught:
        audit(endpoint(url, retries=2, concurrency=3), search=how)
    message = str(caught.value)
    assert message.startswith(f"The endpoint {url} ")
    assert says in message
    assert f"The scores of {N_GOOD * 5} users are kept in {ledger}" in message
    if mode in ("always-truncated", "busy-for-a-day"):
        assert message.endswith(": give the same command again to go on.")
    else:
        # the same command would fail in the same way
        assert message.endswith(
            ": once that is fixed, an audit with this ledger goes on from there."
        )
    assert server.batches("elsewhere") == []
    kept = users_in(ledger)
    assert len(kept) == len(set(kept)) == N_GOOD * 5

    # the service is fixed; nobody is asked for again
    good, good_tag = server.address("plain")
    result = audit(endpoint(good), search=how)
    assert answer_of(result) == expected
    asked = [user for batch in server.batches(good_tag) for user in batch]
    assert len(asked) == len(set(asked)) == N_USERS - len(kept)
    assert not set(asked) & set(kept)
    assert sorted(users_in(ledger)) == sorted({*asked, *kept})
    spent = result.summary.search.spent_in_all
    assert (spent.users, spent.calls) == (N_USERS, N_CALLS)


def test_a_server_that_is_not_there_is_not_tried_for_long(tmp_path):
    server = FaultyServer(tmp_path)
    url, _ = server.address("plain")
    server.kill()
    with pytest.raises(ScoringError, match=r"given up after 3 attempts \(3 x connection\)"):
        audit(endpoint(url, retries=50))


def test_retries_end_with_the_time_of_a_search(server: FaultyServer, tmp_path):
    """What was scored until then is a result; where that is nothing, the fault is said."""
    ledger = tmp_path / "ledger.db"
    how = Search("exact", budget_seconds=1.0, ledger=ledger)
    patient = {"retries": 1000}
    # each call answers for five users
    url, _ = server.address("echo-500")
    started = time.monotonic()
    result = audit(endpoint(url, concurrency=1, **patient), search=how, min_support=1)
    assert time.monotonic() - started < 30
    assert result.summary.search.ending == "time spent"
    # calls of the batch that was not finished are paid for, and kept
    assert 0 < result.summary.search.users_scored <= len(users_in(ledger)) <= N_GOOD * 5
    nothing, _ = server.address("always-500")
    with pytest.raises(UnavailableError, match="budget_seconds is over"):
        audit(endpoint(nothing, **patient), search=Search("exact", budget_seconds=0.5))
    # a model that is used again has all the time again
    model = endpoint(server.address("truncated")[0])
    model.end_at(0)
    model.close()
    assert model.answer(PAIR).shape == (1,)
    model.end_at(0)
    assert audit(model).summary.search.users_paid == N_USERS


def test_a_rate_is_kept(server: FaultyServer):
    url, tag = server.address("plain")
    started = time.monotonic()
    audit(endpoint(url, rate=80, concurrency=8))
    # the first call is free of waiting
    assert time.monotonic() - started >= (N_CALLS - 1) / 80
    assert len(server.batches(tag)) == N_CALLS


def test_progress_and_reports_say_what_went_wrong_and_what_all_runs_cost(server, tmp_path):
    from fairrec.report.view import build_view

    url, _ = server.address("truncated")
    how = Search("random", budget_users=100, ledger=tmp_path / "ledger.db")
    told: list[tuple[str, int, int]] = []
    audit(endpoint(url), search=how, progress=lambda *step: told.append(step))
    steps = [step for step in told if step[0].startswith("searching with random")]
    assert [done for _, done, _ in steps] == sorted(done for _, done, _ in steps)
    assert steps[-1][1:] == (100, 100)
    # after each call, not after each batch of them
    assert len(steps) >= 100 / 5
    assert steps[-1][0].startswith("searching with")
    again, _ = server.address("cut-off")
    result = audit(endpoint(again), search=Search("exact", ledger=how.ledger))
    said = " ".join(build_view(result.summary).search)
    assert result.summary.search.model_identity == "one model"
    assert "The recommender (one model) was asked for" in said
    assert "Calls that failed and were tried again: 3 x connection." in said
    assert result.summary.search.spent_in_all.calls > result.summary.search.calls


def say_again(part: bytes) -> Act:
    """Say this every now and then, never silent for as long as a timeout."""

    def act(peer: socket.socket) -> None:
        while True:
            peer.sendall(part)
            time.sleep(0.05)

    return act


@pytest.mark.parametrize(
    ("act", "scheme"),
    [
        (lambda peer: time.sleep(30), "http:"),
        (lambda peer: time.sleep(30), "https:"),
        (say_again(b"HTTP/1.1 200 OK\r\n"), "http:"),
    ],
    ids=["silent", "no handshake", "dripped headers"],
)
def test_a_call_is_over_in_time_whatever_a_server_does(act, scheme):
    with hostile_server(act, reads_first=False) as url:
        model = endpoint(url.replace("http:", scheme), timeout=0.5, retries=0)
        started = time.monotonic()
        with pytest.raises(UnavailableError, match="given up after 1 attempt"):
            model.answer(PAIR)
        assert time.monotonic() - started < 10
        model.close()


def refused(reply: bytes, **options: Any) -> str:
    """What is said of a reply that is no answer and never will be."""
    with hostile_server(say(reply)) as url:
        model = endpoint(url, **options)
        with pytest.raises(ScoringError) as caught:
            model.answer(PAIR)
        assert model.faults() == {}
        model.close()
    return str(caught.value)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (replied(400, body=b'{"error": "bad id"}'), "HTTP 400 So: bad id"),
        (replied(400, body=b"two\nlines\x1b[31m"), r"HTTP 400 So: two\nlines\x1b[31m"),
        (replied(401), "If it wants a token: token_env=..."),
        (replied(413), "Lower rows_per_call"),
        (replied(501), "Check the address and protocol"),
        (replied(307, b"Location: https://me:pw@host/path?key=1\r\n"), "redirects to host/path, "),
    ],
)
def test_a_reply_that_stays_an_error_is_shown_on_one_line_with_its_remedy(reply, says):
    message = refused(reply)
    assert says in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("header", [b"", b"Retry-After: soon\r\n", b"Retry-After: 3\r\n"])
def test_a_server_that_asks_to_wait_is_waited_for_by_all_calls(header, monkeypatch):
    waits: list[float] = []
    held: list[float] = []
    monkeypatch.setattr(Pace, "sleep", lambda pace, seconds: waits.append(seconds))
    monkeypatch.setattr(Pace, "hold", lambda pace, seconds: held.append(seconds))
    with hostile_server(say(replied(503, header))) as url:
        model = endpoint(url, retries=1)
        with pytest.raises(UnavailableError, match="HTTP 503"):
            model.answer(PAIR)
        model.close()
    asks = header.endswith(b"3\r\n")
    assert max(waits) == 3 if asks else max(waits) <= 0.01
    assert held == ([3] if asks else [])


def test_what_is_missing_is_null_in_json():
    sent = {
        "height": np.array([1.5, np.nan]),
        "age": np.array([7, None], dtype=object),
        "column": np.array([["a"], ["b"]], dtype=object),
        "every_other": np.arange(4)[::2],
    }
    assert json.loads(to_json(sent)) == {
        "height": [1.5, None],
        "age": [7, None],
        "column": [["a"], ["b"]],
        "every_other": [0, 2],
    }


def test_nan_is_read_though_it_is_no_json():
    scores = from_json(b'{"scores": [1, NaN, -Infinity]}')["scores"]
    assert scores[0] == 1
    assert math.isnan(scores[1])
    assert scores[2] == -math.inf
