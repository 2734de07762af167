"""The pace of calls: held while a server is busy, and no waiting after a stop."""

from __future__ import annotations

import math
import threading
import time
from datetime import UTC, datetime

import pytest

from fairrec.core.errors import TimeOverError
from fairrec.scoring.http_client import Pace, retry_after
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


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 37.0),
        ("Sun, 06 Nov 1994 08:48:00 GMT", 0.0),
        ("1.5", 1.5),
        ("9" * 400, math.inf),
        ("Fri, 32 Dec 1999 25:61:61 GMT", None),
        ("tomorrow", None),
        (None, None),
    ],
)
def test_a_server_asks_to_wait_in_seconds_or_until_a_date(header, seconds):
    now = datetime(1994, 11, 6, 8, 49, 0, tzinfo=UTC)
    assert retry_after(header, now) == seconds
