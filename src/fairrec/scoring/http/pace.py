"""How fast to ask: so many calls a second, and none while the server is busy."""

from __future__ import annotations

import math
import threading
import time

from fairrec.core.errors import TimeOverError
from fairrec.core.options import spelled
from fairrec.scoring.models.model import Stopped


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
            raise TimeOverError(f"{spelled('budget_seconds')} is over before it can be asked again")
        if self._stopped.is_set() or (seconds > 0 and self._stopped.wait(seconds)):
            raise Stopped

    def stop(self) -> None:
        """End all waiting."""
        self._stopped.set()

    def restart(self) -> None:
        """Begin again after a stop."""
        self._stopped.clear()
