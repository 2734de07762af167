"""Processes that were forked: threads are not copied, so whoever asks for theirs waits forever."""

from __future__ import annotations

import os
import sys
from threading import Thread

WAIT = 10.0
"""Seconds for what takes a millisecond where Polars has its threads."""
_checked: set[int] = set()


def refuse_lost_threads() -> None:
    """Refuse a process that was forked after Polars had begun threads, in which it would hang.

    Looked at once a process, by work for these threads: what happened before the fork is unknown.
    """
    polars = sys.modules.get("polars")
    if os.getpid() in _checked or polars is None:
        return
    probe = Thread(target=lambda: polars.LazyFrame({"x": [0]}).select("x").collect(), daemon=True)
    probe.start()
    probe.join(WAIT)
    if probe.is_alive():
        from fairrec.core.errors import ForkError

        raise ForkError(
            "This process was forked from one that had used Polars, as every audit does, and "
            "Polars' threads were not copied, so that it would wait for them forever. Start "
            "processes by spawn: multiprocessing.get_context('spawn'), or for a pool "
            "ProcessPoolExecutor(mp_context=multiprocessing.get_context('spawn')). Where a server "
            "or a test runner forks, do not audit before it does."
        )
    _checked.add(os.getpid())
