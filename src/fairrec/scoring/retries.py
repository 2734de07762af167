"""When a server is asked, and when it is asked again."""

from __future__ import annotations

import math
import threading
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from fairrec.core.errors import TimeOverError
from fairrec.core.options import spell
from fairrec.scoring.model import Stopped

LONGEST_RETRY_AFTER = 600.0
"""Seconds; a server that asks for more is given up on for now."""
SIGNAL_SECONDS = 0.5
"""Waits are cut into such steps: a signal may reach another thread, which wakes none that waits."""


class Fault(Exception):  # noqa: N818 - not yet an error
    """What may be gone at the next attempt.

    Parameters
    ----------
    kind : by which faults are counted
    wait : seconds that the server asks to wait
    is_busy : whether all calls should wait
    """

    def __init__(
        self, kind: str, words: str, wait: float | None = None, is_busy: bool = False
    ) -> None:
        super().__init__(words)
        self.kind, self.words, self.wait, self.is_busy = kind, words, wait, is_busy


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
        self._end = math.inf
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

    def end_at(self, moment: float) -> None:
        """Wait for nothing that is later than a moment of `time.monotonic`."""
        self._end = moment

    def sleep(self, seconds: float) -> None:
        """Wait, unless it is stopped, or longer than there is time."""
        if seconds > 0 and time.monotonic() + seconds > self._end:
            raise TimeOverError(f"{spell('budget_seconds')} is over before it can be asked again")
        if self._stopped.is_set() or (seconds > 0 and self._stopped.wait(seconds)):
            raise Stopped

    def stop(self) -> None:
        """End all waiting."""
        self._stopped.set()

    def restart(self) -> None:
        """Begin again after a stop."""
        self._stopped.clear()


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a server asks to wait, from a number or a date; None where it does not say.

    >>> retry_after("3"), retry_after("1.5"), retry_after("soon"), retry_after(None)
    (3.0, 1.5, None, None)
    """
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(header)
    except (ValueError, OverflowError, TypeError, IndexError):
        # what is no date fails in the parts of the standard library in different ways
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())
