"""Waiting before another attempt: how long, and what a server asks for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fairrec.scoring.http.patience import Patience, retry_after


def test_waits_double_up_to_the_longest_less_a_random_part():
    patience = Patience(retries=8, timeout=30.0, first_wait=0.5, longest_wait=30.0)
    for attempt, longest in ((1, 0.5), (2, 1.0), (3, 2.0), (9, 30.0), (60, 30.0)):
        waits = [patience.back_off(attempt) for _ in range(200)]
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
