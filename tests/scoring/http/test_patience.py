"""Waiting: how long, how often, and not after a stop."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime

import pytest

from fairrec.scoring.http.patience import Pace, back_off, retry_after
from fairrec.scoring.models.model import Stopped


def test_waits_double_up_to_the_longest_less_a_random_part():
    for attempt, longest in ((1, 0.5), (2, 1.0), (3, 2.0), (9, 30.0), (60, 30.0)):
        waits = [back_off(attempt, 0.5, 30.0) for _ in range(200)]
        assert longest / 2 <= min(waits) <= max(waits) <= longest
        assert max(waits) - min(waits) > longest / 4, "no jitter"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 37.0),
        ("Sun, 06 Nov 1994 08:48:00 GMT", 0.0),
        ("-1", None),
        ("1.5", None),
        ("²", None),
        ("tomorrow", None),
        ("", None),
        (None, None),
    ],
)
def test_a_server_asks_to_wait_in_seconds_or_until_a_date(header, seconds):
    now = datetime(1994, 11, 6, 8, 49, 0, tzinfo=UTC)
    assert retry_after(header, now) == seconds


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
    pace = Pace(10)
    pace.take_turn()
    began = []

    def wait() -> None:
        pace.take_turn()
        began.append(time.monotonic())

    started = time.monotonic()
    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.02)
    pace.hold(0.4)
    waiting.join()
    assert began[0] - started >= 0.4
