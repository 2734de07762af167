"""The workers of Ray as an `Executor`: of a cluster that is joined, or started on this machine."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, TypeVar
from urllib.parse import urlsplit

from fairrec.core.errors import FairRecError, InputError, plain
from fairrec.core.options import current_spelling, spell, spelled_for
from fairrec.core.threads import available_threads
from fairrec.counts.executor import PartExecutor, in_words, make_part_error, work_on

R = TypeVar("R")

N_ATTEMPTS = 3
"""How often a part is tried in all, where its worker dies."""
_ANSWERS_WITHIN = 5.0
"""Seconds for a connection."""
_ENVIRONMENT = {
    # sends nothing to its makers
    "RAY_USAGE_STATS_ENABLED": "0",
    # of parts whose results are not taken, because another part has failed
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    # else a part that needs too much memory is tried for ever
    "RAY_task_oom_retries": str(N_ATTEMPTS - 1),
}
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
_HOW_TO_START = (
    "Start one with 'ray start --head' on one machine and 'ray start --address HOST:6379' on "
    "others, and run this on one of them"
)


class RayExecutor(PartExecutor):
    """Works on the CPUs and GPUs of a cluster, one task a part.

    Ray decides where, and runs a task again whose worker or node is lost. A function with an
    attribute `n_gpus` is given that number, or share of one, for each part where there are any.

    Parameters
    ----------
    address : of the cluster; None for the one that this program has joined, that of the variable
        RAY_ADDRESS, or a new one here
    workers : parts worked on at once; None for as many as there are CPUs
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._ray, self._workers = _import_ray(), workers
        self._sent: tuple[Any, Any] = (None, None)
        self._is_guest = self._ray.is_initialized()
        if self._is_guest and address is not None:
            raise InputError(
                f"{spell('address', address)}: this program has joined a Ray cluster already. "
                f"Leave {spell('address')} out, or call ray.shutdown() first."
            )
        address = address or os.environ.get("RAY_ADDRESS")
        self._is_own = not self._is_guest and address is None
        if self._is_guest:
            return
        if address is None:
            _start(self._ray, workers or available_threads())
        else:
            _join(self._ray, address)

    @property
    def ahead(self) -> int:
        """One part waits for each CPU, so that none is idle, and a cluster may grow."""
        if self._workers is not None and not self._is_own:
            return self._workers
        n_cpus = self._workers or int(self._ray.cluster_resources().get("CPU", 0))
        return 2 * max(1, n_cpus)

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """The future result for a part."""
        if self._sent[0] is not fn:
            # once for all parts: it may hold a model, or the values of all users
            self._sent = fn, self._ray.put(self._ray.cloudpickle.dumps(fn))
        n_gpus = getattr(fn, "n_gpus", 0)
        task = self._ray.remote(run).options(
            name=f"fairrec {plain(getattr(args[0], 'name', args[0]), 100)}",
            max_retries=N_ATTEMPTS - 1,
            num_gpus=n_gpus if n_gpus and self._ray.cluster_resources().get("GPU", 0) else 0,
        )
        given = self._ray.cloudpickle.dumps((args, kwargs, current_spelling()))
        # in a list it is a reference there, too, and read once a worker
        sent = task.remote(_versions(), [self._sent[1]], given)
        return _RayFuture(self._ray, args[0], sent)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, or end the one that was started."""
        if not self._is_guest:
            self._ray.shutdown()


class _RayFuture(Future[R]):
    """A result of Ray, with errors of this package."""

    def __init__(self, ray: Any, part: Any, reference: Any) -> None:
        super().__init__()
        self._ray, self._part, self._reference = ray, part, reference

    def result(self, timeout: float | None = None) -> R:
        """The result, when it is there."""
        try:
            found: R = self._ray.cloudpickle.loads(self._ray.get(self._reference, timeout=timeout))
            return found
        except self._ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, FairRecError):
                raise cause from error
            if isinstance(cause, Exception):
                # before any line of ours
                why = plain(str(cause).strip().rpartition("\n")[2], 800)
                raise InputError(
                    f"{spell('engine', 'ray')}: a worker cannot load FairRec ({why}). "
                    "Install the same versions on all nodes."
                ) from error
            # further lines are about the state of Ray
            last = in_words(error).partition("\n")[0]
            reason = f"failed {N_ATTEMPTS} times, the last with {last}"
            raise make_part_error(self._part, reason) from error


def run(there: list[str], function: list[Any], given: bytes) -> bytes:
    """What runs on a worker: a function is called, and its result pickled.

    Everything crosses as bytes that are pickled here and not by Ray, whose arrays cannot be written
    to: what works in this process works on a worker too.
    """
    from ray import cloudpickle

    # before polars is loaded, which looks once; Ray gives each worker a CPU
    os.environ.setdefault("POLARS_MAX_THREADS", str(RayExecutor.threads))
    if there != (here := _versions()):
        raise InputError(
            f"{spell('engine', 'ray')}: a worker has {', '.join(here)} instead of "
            f"{', '.join(there)}; the numbers could differ. Install the same on all nodes."
        )
    args, kwargs, spelling = cloudpickle.loads(given)
    with spelled_for(spelling):
        result = work_on(_loaded(function[0]), *args, **kwargs)
    return cloudpickle.dumps(result)  # type: ignore[no-any-return]


@lru_cache(maxsize=2)
def _loaded(reference: Any) -> Callable[..., Any]:
    import ray

    return ray.cloudpickle.loads(ray.get(reference))  # type: ignore[no-any-return]


@cache
def _versions() -> list[str]:
    """The versions of packages that numbers depend on."""
    return [f"{name} {version(name)}" for name in ("fairrec", "numba", "numpy", "polars")]


def _import_ray() -> Any:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise InputError(
            f"{spell('engine', 'ray')} needs Ray. Install it with: pip install 'fairrec[ray]'"
        ) from error
    return ray


def _start(ray: Any, n_cpus: int) -> None:
    try:
        ray.init("local", num_cpus=n_cpus, include_dashboard=False, **_QUIET)
    except Exception as error:
        raise InputError(
            f"{spell('engine', 'ray')}: Ray could not be started here ({plain(error, 300)}). "
            f"Give {spell('address')} of a cluster that runs, or {spell('engine', 'local')}."
        ) from error


def _join(ray: Any, address: str) -> None:
    """Join a cluster; without a listener Ray itself would try for minutes."""
    try:
        place = urlsplit(address if "://" in address else f"//{address}")
        if place.hostname and place.port:
            socket.create_connection((place.hostname, place.port), _ANSWERS_WITHIN).close()
        ray.init(address, **_QUIET)
    except Exception as error:
        raise InputError(
            f"{spell('address', address)}: no Ray cluster answers there ({plain(error, 300)}). "
            f"{_HOW_TO_START}; without {spell('address')} workers are started on this machine."
        ) from error
