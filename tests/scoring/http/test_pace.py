"""The pace of calls: held while a server is busy, and no waiting after a stop."""

from __future__ import annotations

import threading
import time

import pytest

from fairrec.core.errors import TimeOverError
from fairrec.scoring.http_client import Pace
from fairrec.scoring.model import Stopped


def test_whoever_waits_is_woken_by_a_stop():
    pace = Pace(None)
    pace.hold(60)
    ended = []

    def wait() -> None:
        try:
            pace.take_turn()
        except Stopped:
            ended.append(time.monotonic())

    waiting = threading.Thread(target=wait)
    waiting.start()
    pace.stop()
    waiting.join(timeout=10)
    assert ended
    with pytest.raises(Stopped):
        pace.take_turn()
    pace.restart()
    pace.sleep(0)


def test_a_hold_stops_those_who_have_their_turn_already():
    pace = Pace(1)
    pace.take_turn()
    began = []

    def wait() -> None:
        pace.take_turn()
        began.append(time.monotonic())

    started = time.monotonic()
    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.02)
    pace.hold(1.2)
    waiting.join()
    assert began[0] - started >= 1.2


def test_nothing_is_waited_for_beyond_the_end():
    pace = Pace(None)
    pace.end_at(time.monotonic() + 60)
    pace.sleep(0.01)
    with pytest.raises(TimeOverError, match="budget_seconds is over"):
        pace.sleep(61)
    pace.end_at(time.monotonic() - 1)
    # what need not wait may begin
    pace.take_turn()
    pace.hold(1)
    with pytest.raises(TimeOverError):
        pace.take_turn()
