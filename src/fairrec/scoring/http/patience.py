"""How long to wait before asking again, and how fast to ask at all."""

from __future__ import annotations

import random
import threading
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from fairrec.scoring.models.model import Stopped

LONGEST_RETRY_AFTER = 600.0
"""Seconds; a server that asks for more is given up on for now."""


def back_off(attempt: int, first: float, longest: float) -> float:
    """Seconds to wait after so many attempts: doubled each time, less a random part.

    The random part, up to a half, keeps calls that failed together from coming back together.
    """
    return min(longest, first * 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0)


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a server asks to wait, from a number or a date; None where it does not say.

    >>> retry_after("3"), retry_after("soon"), retry_after(None)
    (3.0, None, None)
    """
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())


class Pace:
    """One clock for all calls: so many a second at most, and none while the server is busy.

    Parameters
    ----------
    rate : calls a second; None for no limit
    """

    def __init__(self, rate: float | None) -> None:
        self._between = 0.0 if rate is None else 1.0 / rate
        self._next = 0.0
        self._held_until = 0.0
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def take_turn(self) -> None:
        """Wait until the next call may be made."""
        with self._lock:
            turn = max(time.monotonic(), self._next, self._held_until)
            self._next = turn + self._between
        self.sleep(turn - time.monotonic())
        # asked to wait in the meantime: what had its turn waits too
        while (held := self._held_until - time.monotonic()) > 0:
            self.sleep(held)

    def hold(self, seconds: float) -> None:
        """Let no call begin for so long."""
        with self._lock:
            self._held_until = max(self._held_until, time.monotonic() + seconds)

    def sleep(self, seconds: float) -> None:
        """Wait, unless it is stopped."""
        if self._stopped.is_set() or (seconds > 0 and self._stopped.wait(seconds)):
            raise Stopped

    def stop(self) -> None:
        """End all waiting."""
        self._stopped.set()

    def restart(self) -> None:
        """Begin anew after a stop."""
        self._stopped.clear()
