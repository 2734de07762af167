"""What an engine does, and which one is chosen.

A table is cut into parts by what it is, never by who works on it; results come, and are added, in
the order of the parts. So they are the same bit by bit whatever the engine, the number of workers
and the order in which these are done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from fairrec.core.engines.options import EngineOptions
from fairrec.core.errors import PartError, plain
from fairrec.core.progress import Progress

R = TypeVar("R")


class Part(Protocol):
    """A piece of the work; small where it is sent to workers: what to read, not what was read."""

    @property
    def name(self) -> str:
        """What errors call it, such as its file."""


P = TypeVar("P", bound=Part)
Done = Callable[[Any], None]
"""Told each part that is done, in their order, where the results are taken."""


def unwatched(part: Part) -> None:
    """A `Done` that tells nobody."""


class Engine(Protocol):
    """Works on parts.

    A part may be worked on twice, where a worker was lost: `function` gives the same result for
    the same part, and a file that it writes is written whole, by a name that the part decides.
    `function`, parts and results must be picklable (by cloudpickle, so lambdas are) for engines
    of several processes. Errors of ours come out as they are, others as a `PartError`.

    Parameters
    ----------
    threads : how many `function` may use
    """

    threads: int

    def map(
        self,
        function: Callable[[P], R],
        parts: Iterable[P],
        done: Done = unwatched,
        gpus: float = 0.0,
    ) -> Iterator[R]:
        """The results of all parts in their order, begun only a little ahead of those taken.

        Parameters
        ----------
        parts : drawn when their turn comes, so that there may be any number of them
        gpus : of which a part wants so many, or such a share of one, on workers where there are any
        """

    def fold(
        self,
        function: Callable[[P], R],
        parts: Iterable[P],
        add: Callable[[R, R], R],
        done: Done = unwatched,
        gpus: float = 0.0,
    ) -> R:
        """The results of all parts, added in a tree that depends on their number alone.

        Parameters
        ----------
        add : the sum of two results, which it may change; the first is of earlier parts
        """


@contextmanager
def open_engine(options: EngineOptions) -> Iterator[Engine]:
    """The engine that is asked for; what was started for it is ended afterwards."""
    if options.engine == "ray":
        from fairrec.core.engines.ray_cluster import cluster
        from fairrec.core.engines.ray_engine import RayEngine

        with cluster(options.address, options.workers) as joined:
            yield RayEngine(joined)
    else:
        from fairrec.core.engines.local import LocalEngine

        yield LocalEngine(options.workers or 1)


def steps(
    progress: Progress, stage: str, total: int, size: Callable[[Any], int] = lambda part: 1
) -> Done:
    """A `Done` that makes progress known.

    Parameters
    ----------
    total : steps of all parts together
    size : steps of a part, such as its rows

    Examples
    --------
    >>> done = steps(lambda *said: print(*said), "counting", 40, size=len)
    counting 0 40
    >>> done("x" * 30)
    counting 30 40
    """
    n_done = 0

    def done(part: Any) -> None:
        nonlocal n_done
        n_done += size(part)
        progress(stage, n_done, total)

    progress(stage, 0, total)
    return done


LONGEST_ERROR = 800


def failed(name: str, error: str, n_times: int = 1) -> PartError:
    """The error for a part, with what went wrong last."""
    how_often = f" {n_times} times, the last time with" if n_times > 1 else " with"
    return PartError(f"{plain(name)}: failed{how_often} {plain(error, LONGEST_ERROR)}")


def in_words(error: BaseException) -> str:
    """An error of any library on one line.

    >>> in_words(KeyError("a"))
    "KeyError: 'a'"
    """
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
