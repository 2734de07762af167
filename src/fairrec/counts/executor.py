"""Parts of the work, done by threads here or by the workers of Ray, in the shape of an `Executor`.

A table is cut into parts by what it is, never by who works on it; results come, and are added, in
the order of the parts. So they are the same bit by bit whatever the executor, the number of workers
and the order in which parts are done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar

from fairrec.core.audit_options import Engine
from fairrec.core.errors import FairRecError, PartError, plain
from fairrec.core.threads import MOST_PER_CORE, available_threads

R = TypeVar("R")


class PartExecutor(Executor):
    """Works on parts: what is called takes one as its first argument, whose `name` errors say.

    A part is small where it is sent to workers: what to read, not what was read. It may be worked
    on twice, where a worker was lost, so a function gives the same result for the same part.
    """

    threads = 1
    """How many a function may use."""

    @property
    def ahead(self) -> int:
        """How many parts may be begun before their results are taken."""
        return 1

    def map(
        self,
        fn: Callable[..., R],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[R]:
        """The results in the order of the parts, which are drawn when their turn comes."""
        begun: deque[Future[R]] = deque()
        try:
            for part in zip(*iterables, strict=False):
                while len(begun) >= self.ahead:
                    yield begun.popleft().result(timeout)
                begun.append(self.submit(fn, *part))
            while begun:
                yield begun.popleft().result(timeout)
        finally:
            for future in begun:
                future.cancel()


class LocalExecutor(PartExecutor):
    """Works in this process, on one part after the other or on some at once in threads."""

    def __init__(self, workers: int = 1) -> None:
        self._workers = min(workers, MOST_PER_CORE * available_threads())
        self._pool = ThreadPoolExecutor(self._workers) if self._workers > 1 else None
        self.threads = max(1, available_threads() // workers)

    @property
    def ahead(self) -> int:
        """One for each worker: a part may be large."""
        return self._workers

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """The future result for a part; with one worker it is there already."""
        if self._pool is not None:
            return self._pool.submit(work_on, fn, *args, **kwargs)
        future: Future[R] = Future()
        try:
            future.set_result(work_on(fn, *args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads; parts that are not begun are left."""
        if self._pool is not None:
            self._pool.shutdown(wait, cancel_futures=True)


def open_executor(options: Engine) -> PartExecutor:
    """The executor that is asked for; to be used in a `with` statement."""
    if options.engine == "ray":
        from fairrec.counts.ray_adapter import RayExecutor

        return RayExecutor(options.address, options.workers)
    return LocalExecutor(options.workers or 1)


def work_on(function: Callable[..., R], part: Any, *others: Any, **named: Any) -> R:
    """Call a function; errors of ours come out as they are, others name the part."""
    try:
        return function(part, *others, **named)
    except FairRecError:
        raise
    except Exception as error:
        raise make_part_error(part, f"failed with {in_words(error)}") from error


def make_part_error(part: Any, reason: str) -> PartError:
    """The error for a part in one line; the reason is outside text."""
    return PartError(f"{plain(getattr(part, 'name', part), 300)}: {plain(reason, 800)}")


def in_words(error: BaseException) -> str:
    """An error of any library."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def fold(add: Callable[[R, R], R], results: Iterable[R]) -> R:
    """The sum of results, whose rounding depends on how many there are and on nothing else.

    Always two sums of equally many are added, as a binary counter does, so that no more of them
    are kept than the number of results has digits.

    >>> fold(lambda left, right: f"({left}{right})", "abcde")
    '(((ab)(cd))e)'
    """
    sums: list[tuple[int, R]] = []
    for result in results:
        height, total = 0, result
        while sums and sums[-1][0] == height:
            total = add(sums.pop()[1], total)
            height += 1
        sums.append((height, total))
    _, total = sums.pop()
    while sums:
        total = add(sums.pop()[1], total)
    return total
