"""Work on chunks of rows in threads: the kernels release the interpreter lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain, islice, pairwise
from threading import Thread
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 16
"""Tasks begun for each thread before their results are taken: enough that no thread waits for one
slow task, few enough that their results need little room."""
MOST_PER_CORE = 4
"""Threads used for each core at most, however many are asked for: more do not help, but each needs
room, and so do the results of its tasks."""


def available_threads() -> int:
    """The number of processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_threads(work: Callable[[T], R], tasks: Iterable[T], threads: int) -> Iterator[R]:
    """The results of `work`, in the order of the tasks, whatever the number of threads.

    A task is drawn when its turn comes, so that there may be any number of them. After an error
    no further task is begun.
    """
    if threads > 1:
        threads = min(threads, MOST_PER_CORE * available_threads())
    waiting = iter(tasks)
    first = [*islice(waiting, 2)]
    waiting = chain(first, waiting)
    if threads <= 1 or len(first) <= 1:
        yield from map(work, waiting)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            begun = deque(pool.submit(work, task) for task in islice(waiting, AHEAD * threads))
            while begun:
                result = begun.popleft().result()
                begun.extend(pool.submit(work, task) for task in islice(waiting, 1))
                yield result
        finally:
            pool.shutdown(cancel_futures=True)


def chunks(n_rows: int, n_chunks: int, smallest: int = 1) -> list[slice]:
    """At most `n_chunks` slices of about equal size that cover the rows.

    Parameters
    ----------
    smallest : rows below which a slice of its own costs more than it saves

    Examples
    --------
    >>> chunks(10, 3)
    [slice(0, 3, None), slice(3, 6, None), slice(6, 10, None)]
    """
    n_chunks = max(1, min(n_chunks, n_rows // smallest))
    bounds = [n_rows * i // n_chunks for i in range(n_chunks + 1)]
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def start_in_background(work: Callable[[], object]) -> None:
    """Start work whose result is kept and needed later, such as loading modules.

    Errors are swallowed; the caller that needs the result will raise them.
    """

    def run() -> None:
        with suppress(Exception):
            work()

    Thread(target=run, name="background").start()
