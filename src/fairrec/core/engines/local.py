"""Parts are worked on in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import tee
from typing import TypeVar

from fairrec.core.engines.engine import Done, P, failed, in_words, unwatched
from fairrec.core.engines.tree import Tree
from fairrec.core.errors import FairRecError
from fairrec.core.threads import available_threads, map_in_threads

R = TypeVar("R")

AHEAD = 1
"""Parts begun for each worker before their results are taken: a part may be large."""


class LocalEngine:
    """Works in this process, on one part after the other or on some at once in threads.

    GPUs are what the process sees; nobody else asks for them.
    """

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers
        self.threads = max(1, available_threads() // workers)

    def map(
        self,
        function: Callable[[P], R],
        parts: Iterable[P],
        done: Done = unwatched,
        gpus: float = 0.0,
    ) -> Iterator[R]:
        """The results of all parts in their order."""

        def work(part: P) -> R:
            try:
                return function(part)
            except FairRecError:
                raise
            except Exception as error:
                raise failed(part.name, in_words(error)) from error

        worked_on, finished = tee(parts)
        for result in map_in_threads(work, worked_on, self._workers, AHEAD):
            done(next(finished))
            yield result

    def fold(
        self,
        function: Callable[[P], R],
        parts: Iterable[P],
        add: Callable[[R, R], R],
        done: Done = unwatched,
        gpus: float = 0.0,
    ) -> R:
        """The results of all parts, added in a tree."""
        tree = Tree(add)
        for result in self.map(function, parts, done):
            tree.push(result)
        return tree.total()
