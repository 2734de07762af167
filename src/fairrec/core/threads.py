"""Work on chunks of rows in threads; the kernels let go of the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def available_threads() -> int:
    """The number of processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_threads(work: Callable[[T], R], tasks: Iterable[T], threads: int) -> Iterator[R]:
    """The results of `work`, in the order of the tasks, whatever the number of threads."""
    tasks = list(tasks)
    if threads <= 1 or len(tasks) <= 1:
        yield from map(work, tasks)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(work, tasks)
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
