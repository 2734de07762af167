"""Waiting before another attempt: how long, and what a server asks for."""

from __future__ import annotations

import math
import random
import string
from datetime import UTC, datetime

import pytest

from fairrec.scoring.http_client import retry_after


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 37.0),
        ("Sun, 06 Nov 1994 08:48:00 GMT", 0.0),
        ("-1", 0.0),
        ("1.5", 1.5),
        ("+2.", 2.0),
        ("9" * 400, math.inf),
        ("-" + "9" * 400, 0.0),
        ("nan", 0.0),
        ("inf", math.inf),
        ("Sun, 06 Nov 1994 08:49:37", 37.0),
        ("Sun, 06 Nov 1994 08:49:37 +0000", 37.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 37.0),
        ("Sun Nov  6 08:49:37 1994", 37.0),
        ("Fri, 31 Dec 1999 23:59:59 +99999999999999999999", None),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
        ("Fri, 32 Dec 1999 25:61:61 GMT", None),
        ("²", None),
        ("tomorrow", None),
        ("", None),
        (None, None),
    ],
)
def test_a_server_asks_to_wait_in_seconds_or_until_a_date(header, seconds):
    now = datetime(1994, 11, 6, 8, 49, 0, tzinfo=UTC)
    assert retry_after(header, now) == seconds


def test_nothing_that_a_server_asks_for_is_more_than_a_number():
    """Dates with letters exchanged, and noise."""
    chance = random.Random(1)
    letters = string.printable + "²٣\xa0"
    for _ in range(2000):
        text = list("Fri, 31 Dec 1999 23:59:59 +0100")
        for _ in range(chance.randrange(12)):
            text[chance.randrange(len(text))] = chance.choice(letters) * chance.randrange(4)
        seconds = retry_after("".join(text))
        assert seconds is None or seconds >= 0
