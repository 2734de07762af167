"""Commands in processes that are forked off one that has loaded everything and used nothing.

A fork after the first use of Polars would hang, so this process only imports; what a command needs
is made by commands. Each fork may arm the library of faults for itself, or be sent a signal.
"""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

OPEN, WRITE, SYNC, RENAME, OTHER = 1, 2, 4, 8, 16
KINDS = {"open": OPEN, "write": WRITE, "fsync": SYNC, "rename": RENAME, "other": OTHER}
ANY = OPEN | WRITE | SYNC | RENAME | OTHER
KILLED = -9
LIMIT = 60.0
_PRELOAD, _SOURCE = "LD_PRELOAD", Path(__file__).with_name("faults.c")


@dataclass(frozen=True)
class Fault:
    """What happens to a command.

    Parameters
    ----------
    kinds : which calls count
    nth : which of them falls; 0 for none, to count them
    error : the number of the error, 0 for a kill
    is_lasting : whether all further ones fall too, as on a full disk
    largest : bytes that a file may have
    allocation : which array cannot be made
    """

    kinds: int = ANY
    nth: int = 0
    error: int = 0
    is_lasting: bool = False
    largest: int | None = None
    allocation: int = 0

    @property
    def is_kill(self) -> bool:
        """Whether it ends the process, and so nothing else is the matter."""
        return bool(self.nth) and not self.error


@dataclass(frozen=True)
class Ended:
    """How a command ended; `code` is negative where a signal ended it, `count` what counted."""

    code: int
    said: str
    count: int


def with_faults(module: str) -> None:
    """Start this module again with the library of faults before all others, unless it is there."""
    if hasattr(ctypes.CDLL(None), "fault_arm"):
        return
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "faults.so"
        compiler = shutil.which("cc") or sys.exit("torture needs a C compiler: cc")
        command = [compiler, "-O1", "-shared", "-fPIC", "-o", library, _SOURCE, "-ldl"]
        subprocess.run(command, check=True)
        environment = {**os.environ, _PRELOAD: str(library), "OPENBLAS_NUM_THREADS": "1"}
        environment["OMP_NUM_THREADS"] = "1"
        again = [sys.executable, "-m", module, *sys.argv[1:]]
        sys.exit(subprocess.run(again, env=environment, check=False).returncode)


def forked(
    work: Callable[[], None], folder: Path, fault: Fault | None = None, stop: Stop | None = None
) -> Ended:
    """Do something in a process of its own, in a folder, and say how it ended."""
    return started(work, folder, fault).ended(stop)


def started(work: Callable[[], None], folder: Path, fault: Fault | None = None) -> Started:
    """The same, not waited for."""
    said, to_say = os.pipe()
    counted, to_count = os.pipe()
    child = os.fork()
    if child == 0:
        _be_child(work, folder, fault, to_say, to_count)
    os.close(to_say)
    os.close(to_count)
    return Started(child, said, counted)


@dataclass(frozen=True)
class Started:
    """A process, and the pipes with what it says and how many of its calls counted."""

    child: int
    said: int
    counted: int

    def ended(self, stop: Stop | None = None) -> Ended:
        """How it ends."""
        code = _waited(self.child, stop)
        # what a command says fits a pipe
        with os.fdopen(self.said, "rb") as words, os.fdopen(self.counted, "rb") as number:
            return Ended(code, words.read().decode(errors="replace"), int(number.read() or 0))


@dataclass(frozen=True)
class Stop:
    """A signal, and how long after something comes to be under a folder it is sent."""

    number: signal.Signals
    seconds: float
    is_begun: Callable[[], bool]


def _waited(child: int, stop: Stop | None) -> int:
    until = time.monotonic() + LIMIT
    if stop is not None:
        while not stop.is_begun() and os.waitid(os.P_PID, child, _PEEK) is None:
            time.sleep(0.0005)
        time.sleep(stop.seconds)
        # it is not waited for yet, so its number is nobody else's
        os.kill(child, stop.number)
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 124


_PEEK = os.WEXITED | os.WNOHANG | os.WNOWAIT


def _be_child(
    work: Callable[[], None], folder: Path, fault: Fault | None, said: int, counted: int
) -> None:
    code = 1
    library = ctypes.CDLL(None)
    try:
        os.chdir(folder)
        os.dup2(said, 1)
        os.dup2(said, 2)
        # the old ones may be of a file, which can be gone back in
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
        # a signal may come between the opening of a file and the first that could close it
        warnings.simplefilter("ignore", ResourceWarning)
        if fault is not None and fault.largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (fault.largest, resource.RLIM_INFINITY))
        if fault is not None and fault.allocation:
            _scarce_memory(fault.allocation)
        if fault is not None and fault.largest is None and not fault.allocation:
            arguments = (fault.kinds, ctypes.c_long(fault.nth), fault.error, fault.is_lasting)
            library.fault_arm(os.fsencode(folder), *arguments)
        work()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            library.fault_disarm()
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(counted, str(library.fault_count()).encode())
        finally:
            os._exit(code)


def _scarce_memory(nth: int) -> None:
    """Let numpy have no memory for its n-th array."""
    import numpy as np

    left = nth

    def scarce(make: Callable[..., object]) -> Callable[..., object]:
        def made(*arguments: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left == 0:
                raise MemoryError("Unable to allocate 8.00 GiB for an array")
            return make(*arguments, **options)

        return made

    for name in ("empty", "zeros", "full", "ones", "empty_like", "zeros_like", "concatenate"):
        setattr(np, name, scarce(getattr(np, name)))
