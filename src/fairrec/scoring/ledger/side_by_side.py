"""Calls under way side by side; whatever comes back is kept, however it ends."""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from fairrec.scoring.models.model import Stopped

T = TypeVar("T")
R = TypeVar("R")

INTERRUPT_SECONDS = 5.0
"""How long calls under way are waited for after an interrupt."""


class SideBySide(Generic[T, R]):
    """Does tasks in a fixed number of threads.

    The threads do not keep the process alive: after an interrupt it can end while a server is
    still silent.

    Parameters
    ----------
    work : called in those threads
    keep : called in the thread that asks, with each task, its answer and the seconds it took, in
        the order in which answers come back; between them, no more than `n_at_once` tasks are
        begun and not kept
    stop : called when a task has failed, to end the waiting of others
    """

    def __init__(
        self,
        work: Callable[[T], R],
        keep: Callable[[T, R, float], None],
        n_at_once: int,
        stop: Callable[[], None],
    ) -> None:
        self._work, self._keep, self._stop, self._n_at_once = work, keep, stop, n_at_once
        self._tasks: SimpleQueue[T | None] = SimpleQueue()
        self._finished: deque[tuple[T, R, float] | BaseException] = deque()
        self._news: SimpleQueue[None] = SimpleQueue()
        self._n_open = 0
        self._threads = [
            threading.Thread(target=self._serve, daemon=True) for _ in range(n_at_once)
        ]
        for thread in self._threads:
            thread.start()

    def run(self, tasks: Iterable[T]) -> None:
        """Do all tasks.

        When one fails, or the user interrupts, no more are begun, those under way are waited
        for and kept, and then the error is raised.
        """
        left = iter(tasks)
        failure: BaseException | None = None
        deadline: float | None = None
        while True:
            try:
                with interrupts_held():
                    failed = self._take_in()
                    failure = failure or failed
                    if failure is None:
                        self._begin(left)
                    else:
                        self._stop()
                if not self._n_open or (deadline and time.monotonic() > deadline):
                    break
                self._await_news(deadline)
            except KeyboardInterrupt as interrupt:
                if isinstance(failure, KeyboardInterrupt):
                    raise
                failure, deadline = interrupt, time.monotonic() + INTERRUPT_SECONDS
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Let the threads end, those at once that have nothing to do."""
        for _ in self._threads:
            self._tasks.put(None)
        if not self._n_open:
            # a thread that ends together with the process can bring it down
            for thread in self._threads:
                thread.join()

    def _begin(self, left: Iterator[T]) -> None:
        while self._n_open < self._n_at_once:
            task = next(left, None)
            if task is None:
                return
            self._tasks.put(task)
            self._n_open += 1

    def _take_in(self) -> BaseException | None:
        """Keep what has come back; the first failure among it."""
        failure: BaseException | None = None
        while self._finished:
            finished = self._finished.popleft()
            self._n_open -= 1
            if not isinstance(finished, BaseException):
                self._keep(*finished)
            elif failure is None and not isinstance(finished, Stopped):
                failure = finished
        return failure

    def _await_news(self, deadline: float | None) -> None:
        left = None if deadline is None else max(deadline - time.monotonic(), 0)
        with suppress(Empty):
            self._news.get(timeout=left)

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            started = time.perf_counter()
            try:
                answer = self._work(task)
                self._finished.append((task, answer, time.perf_counter() - started))
            except BaseException as error:
                self._finished.append(error)
            self._news.put(None)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let what is inside happen as a whole: Ctrl-C takes effect after it.

    Signals reach the main thread alone, so in others there is nothing to hold.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(came[0], None)
