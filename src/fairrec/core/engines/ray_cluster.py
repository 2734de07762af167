"""Joins a Ray cluster, or starts one on this machine and ends it again."""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread, current_thread, main_thread
from time import monotonic
from typing import Any, NoReturn
from urllib.parse import urlsplit

from fairrec.core.errors import InputError, plain
from fairrec.core.options import spelled
from fairrec.core.threads import available_threads

N_ATTEMPTS = 3
"""How often a part is tried in all."""
ANSWERS_WITHIN, JOINS_WITHIN = 5.0, 60.0
"""Seconds for a connection, and for all that Ray does about it."""
LOOKS_AGAIN = 5.0
"""Seconds after which the size of a cluster is looked at again: it may grow with its work."""
_ENVIRONMENT = {
    # sends nothing to its makers
    "RAY_USAGE_STATS_ENABLED": "0",
    # of tasks that nobody asks after, because another part has failed
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    # else a part that needs too much memory is tried for ever
    "RAY_task_oom_retries": str(N_ATTEMPTS - 1),
}
_HOW_TO_START = (
    "Start one with 'ray start --head' on one machine and 'ray start --address HOST:6379' on "
    "others, and run this on one of them"
)


@dataclass
class Cluster:
    """A cluster that was joined.

    Parameters
    ----------
    ray : the package
    workers : parts worked on at once at most; None for as many as it has CPUs
    is_ours : whether it was started for this, with so many CPUs as there may be workers
    """

    ray: Any
    workers: int | None = None
    is_ours: bool = False
    _n_cpus: int = 0
    _looked: float = 0.0

    @property
    def room(self) -> int:
        """How many parts may be begun before their results are taken.

        There is always one waiting for each CPU, so that none is idle, and a cluster that grows
        with its work sees some.
        """
        if self.workers is not None and not self.is_ours:
            return self.workers
        return 2 * (self.workers or self._cpus())

    def gpus(self, wanted: float) -> float:
        """What a task may ask for: nothing where there is no GPU at all."""
        return wanted if wanted and self.ray.cluster_resources().get("GPU", 0) else 0.0

    def _cpus(self) -> int:
        if not self._n_cpus or monotonic() - self._looked > LOOKS_AGAIN:
            self._n_cpus = max(1, int(self.ray.cluster_resources().get("CPU", 0)))
            self._looked = monotonic()
        return self._n_cpus


@contextmanager
def cluster(address: str | None, workers: int | None) -> Iterator[Cluster]:
    """The cluster at an address, the one this program has joined already, or a new one."""
    ray = _package()
    address = address or (None if ray.is_initialized() else os.environ.get("RAY_ADDRESS"))
    if ray.is_initialized():
        if address is not None:
            raise InputError(
                f"{spelled('address', address)}: this program has joined a Ray cluster already. "
                f"Leave {spelled('address')} out, or call ray.shutdown() first."
            )
        yield Cluster(ray, workers)
        return
    try:
        with _end_kept():
            if address is None:
                _start(ray, workers or available_threads())
            else:
                _join(ray, address)
        with _no_noise(ray):
            yield Cluster(ray, workers, is_ours=address is None)
    finally:
        ray.shutdown()


def _package() -> Any:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise InputError(
            f"{spelled('engine', 'ray')} needs Ray. Install it with: pip install 'fairrec[ray]'"
        ) from error
    return ray


def _init(ray: Any, address: str, **how: Any) -> None:
    ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **how)


def _start(ray: Any, n_cpus: int) -> None:
    """Start a cluster in this thread: what Ray starts ends with the thread that started it."""
    try:
        _init(ray, "local", num_cpus=n_cpus, include_dashboard=False)
    except Exception as error:
        raise InputError(
            f"{spelled('engine', 'ray')}: Ray could not be started here ({plain(error, 300)}). "
            f"Give {spelled('address')} of a cluster that runs, or {spelled('engine', 'local')}."
        ) from error


def _join(ray: Any, address: str) -> None:
    """Join a cluster, or say why not; Ray itself would try for minutes."""
    _refuse_silence(address)
    errors: list[BaseException] = []

    def join() -> None:
        try:
            _init(ray, address)
        except BaseException as error:
            errors.append(error)

    joining = Thread(target=join, name="join", daemon=True)
    joining.start()
    joining.join(JOINS_WITHIN)
    if joining.is_alive():
        _no_cluster(address, f"no answer within {JOINS_WITHIN:g} s")
    if errors:
        _no_cluster(address, str(errors[0]), errors[0])


def _refuse_silence(address: str) -> None:
    """An error where nobody listens; addresses without a port are for Ray to find out about."""
    try:
        place = urlsplit(address if "://" in address else f"//{address}")
        port = place.port
    except ValueError as error:
        _no_cluster(address, str(error), error)
    if place.hostname and port:
        try:
            socket.create_connection((place.hostname, port), ANSWERS_WITHIN).close()
        except OSError as error:
            _no_cluster(address, str(error), error)


def _no_cluster(address: str, why: str, error: BaseException | None = None) -> NoReturn:
    raise InputError(
        f"{spelled('address', address)}: no Ray cluster answers there ({plain(why, 300)}). "
        f"{_HOW_TO_START}; without {spelled('address')} workers are started on this machine."
    ) from error


@contextmanager
def _end_kept() -> Iterator[None]:
    """Whoever hears SIGTERM still does: Ray takes it for itself, and clears away its own alone."""
    is_ours = current_thread() is main_thread()
    before = signal.getsignal(signal.SIGTERM) if is_ours else None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _no_noise(ray: Any) -> Iterator[None]:
    """What Ray prints about lost workers goes to its log: an error that stays is raised."""
    worker = getattr(getattr(ray, "_private", None), "worker", None)
    printed = getattr(worker, "print_to_stdstream", None)
    if worker is None or printed is None:
        yield
        return
    log = logging.getLogger("ray")
    worker.print_to_stdstream = lambda data, *_, **__: log.warning("\n".join(data["lines"]))
    try:
        yield
    finally:
        worker.print_to_stdstream = printed
