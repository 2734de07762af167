"""Whatever a server does, a call is over in time."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest

import fairrec
from fairrec.core.errors import FairRecError
from tests.scoring.http.hostile_servers import (
    ACTS,
    LONG,
    STEP,
    Act,
    handshakes,
    hostile_server,
)

pytestmark = pytest.mark.slow

TIMEOUT = 0.4
PATIENCE = TIMEOUT + 15
"""Seconds that a busy machine may take; what hangs, hangs for much longer."""
PAIR = {"user_id": np.array([1]), "item_id": np.array([2])}


class Ended(NamedTuple):
    seconds: float
    said: Any


def asked(url: str, n_pairs: int = 1) -> Ended:
    """Ask once, in a thread that need not come back."""
    said: list[Any] = []
    model = fairrec.Endpoint(url, protocol="json", timeout=TIMEOUT, retries=0, max_reply_mb=1)

    def ask() -> None:
        try:
            said.append(model.answer({name: ids.repeat(n_pairs) for name, ids in PAIR.items()}))
        except BaseException as error:
            said.append(error)
        finally:
            model.close()

    thread = threading.Thread(target=ask, daemon=True)
    started = time.monotonic()
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), "it hangs"
    return Ended(time.monotonic() - started, said[0])


def test_no_hostile_server_holds_a_call_up():
    def outcome(act: Act) -> Any:
        with hostile_server(act) as url:
            return asked(url).said

    with ThreadPoolExecutor(8) as pool:
        outcomes = dict(zip(ACTS, pool.map(outcome, ACTS.values()), strict=True))
    assert {n: said for n, said in outcomes.items() if not isinstance(said, FairRecError)} == {}


@pytest.mark.parametrize("name", handshakes())
def test_no_handshake_holds_a_call_up(name):
    with hostile_server(handshakes()[name], reads_first=False) as url:
        ended = asked(url.replace("http:", "https:"))
    assert isinstance(ended.said, FairRecError)


def test_a_server_that_takes_a_request_in_slowly_is_late():
    def read_slowly(peer: socket.socket) -> None:
        for _ in range(int(LONG / STEP)):
            peer.recv(20_000)
            time.sleep(STEP)

    with hostile_server(read_slowly, reads_first=False) as url:
        late = asked(url, n_pairs=4_000_000).said
    assert "1 x timeout" in str(late)


def test_a_host_that_is_looked_for_without_end_is_late(monkeypatch):
    # the search itself cannot be ended, and its thread is waited for when Python ends
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(5))
    ended = asked("http://ranker.example/score")
    assert "no connection within 0.2 s" in str(ended.said)
    assert ended.seconds < 4
