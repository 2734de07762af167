"""Signals that end a command: as an interrupt, once, and not in the middle of a change."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_TERMINATING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Windows has no SIGHUP."""
RECEIVED: list[int] = []
"""The signals that ended this command; an error may lose its own on the way out of a library."""


def end_in_order() -> None:
    """Have signals that end a command interrupt it, so that what is on its way is removed."""
    for number in _TERMINATING:
        # one that is ignored, as by nohup, stays so
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: object) -> None:
    RECEIVED.append(number)
    # a service manager may send several: what is kept and removed then is not to be interrupted
    for one in _TERMINATING:
        if signal.getsignal(one) is _interrupt:
            signal.signal(one, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let what is inside happen as a whole: Ctrl-C and what ends a command take effect after it.

    Signals reach the main thread alone, so in others there is nothing to hold.
    """
    is_main = threading.current_thread() is threading.main_thread()
    numbers = [signal.SIGINT, *_TERMINATING] if is_main else []
    before = {number: signal.getsignal(number) for number in numbers}
    held = {number: action for number, action in before.items() if callable(action)}
    came: list[int] = []
    try:
        for number in held:
            signal.signal(number, lambda number, frame: came.append(number))
        yield
    finally:
        for number, action in held.items():
            signal.signal(number, action)
        if came:
            held[came[0]](came[0], None)
