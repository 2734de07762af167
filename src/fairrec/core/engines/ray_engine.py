"""Parts are worked on by the workers of Ray."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from fairrec.core.engines.engine import (
    LONGEST_ERROR,
    Done,
    P,
    Part,
    failed,
    in_words,
    unwatched,
)
from fairrec.core.engines.ray_cluster import N_ATTEMPTS, Cluster
from fairrec.core.engines.ray_task import THREADS, Setup, UnforeseenError, run
from fairrec.core.engines.tree import Tree
from fairrec.core.errors import FairRecError, InputError, plain
from fairrec.core.options import spelled

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Task:
    """A result that a worker makes.

    Parameters
    ----------
    first, last : the names of the parts it is of
    done, result : references of Ray; the first gives nothing, as soon as the second is there
    """

    first: str
    last: str
    done: Any
    result: Any

    @property
    def name(self) -> str:
        """What errors call it."""
        return self.first if self.first == self.last else f"sum of {self.first} to {self.last}"


class RayEngine:
    """Works on the CPUs and GPUs of a cluster, one task a part.

    Ray decides where, and runs a task again whose worker or node is lost; a result counts once
    however often it was made.
    """

    threads = THREADS

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._ray = cluster, cluster.ray

    def map(
        self,
        function: Callable[[P], R],
        parts: Iterable[P],
        done: Done = unwatched,
        gpus: float = 0.0,
    ) -> Iterator[R]:
        """The results of all parts in their order."""
        for task in self._finished(function, parts, done, gpus):
            yield self._taken(task)

    def fold(
        self,
        function: Callable[[P], R],
        parts: Iterable[P],
        add: Callable[[R, R], R],
        done: Done = unwatched,
        gpus: float = 0.0,
    ) -> R:
        """The results of all parts, added by the workers in a tree."""
        begin = self._beginning(add)
        adding: deque[Task] = deque()

        def added(left: Task, right: Task) -> Task:
            if len(adding) >= self._cluster.room:
                self._wait(adding.popleft())
            adding.append(begin(left.first, right.last, left.result, right.result))
            return adding[-1]

        tree = Tree(added)
        for task in self._finished(function, parts, done, gpus):
            tree.push(task)
        total: R = self._taken(tree.total())
        return total

    def _finished(
        self, function: Callable[[P], Any], parts: Iterable[P], done: Done, gpus: float
    ) -> Iterator[Task]:
        """The tasks of all parts in their order, each when its result is there."""
        pickled = self._ray.cloudpickle.dumps
        begin = self._beginning(function, self._cluster.gpus(gpus))
        begun: deque[tuple[Part, Task]] = deque()

        def first() -> Task:
            part, task = begun.popleft()
            self._wait(task)
            done(part)
            return task

        # after an error, the few that are begun run to their end or to that of this program; Ray
        # can crash it where a task is cancelled just as it fails
        for part in parts:
            while len(begun) >= self._cluster.room:
                yield first()
            begun.append((part, begin(part.name, part.name, pickled(part))))
        while begun:
            yield first()

    def _beginning(self, function: Callable[..., Any], gpus: float = 0.0) -> Callable[..., Task]:
        """What begins a task: the names of its first and last part -> inputs -> the task."""
        setup = Setup.of(uuid4().hex)
        # once for all tasks: it may hold a model, or the values of all users
        sent = self._ray.put(self._ray.cloudpickle.dumps(function))
        remote = self._ray.remote(run)

        def begin(first: str, last: str, *inputs: Any) -> Task:
            how = remote.options(
                name=f"fairrec {plain(first)}",
                num_returns=2,
                max_retries=N_ATTEMPTS - 1,
                retry_exceptions=[UnforeseenError],
                num_gpus=gpus,
            )
            return Task(first, last, *how.remote(setup, sent, *inputs))

        return begin

    def _wait(self, task: Task) -> None:
        self._got(task, task.done)

    def _taken(self, task: Task) -> Any:
        return self._ray.cloudpickle.loads(self._got(task, task.result))

    def _got(self, task: Task, reference: Any) -> Any:
        """What Ray has; its errors as ours."""
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, FairRecError):
                raise cause from error
            if isinstance(cause, Exception) and not isinstance(cause, UnforeseenError):
                # before any line of ours
                why = plain(str(cause).strip().rpartition("\n")[2], LONGEST_ERROR)
                raise InputError(
                    f"{spelled('engine', 'ray')}: a worker cannot load FairRec ({why}). "
                    "Install the same versions on all nodes."
                ) from error
            raise failed(task.name, self._said(error, cause), N_ATTEMPTS) from error

    def _said(self, error: Exception, cause: object) -> str:
        if isinstance(cause, UnforeseenError):
            return str(cause)
        # the first line says it; others are about the state of Ray
        said = in_words(error).partition("\n")[0]
        if isinstance(error, self._ray.exceptions.OutOfMemoryError):
            return f"{said} Give fewer {spelled('workers')}, or a cluster with more memory."
        return said
