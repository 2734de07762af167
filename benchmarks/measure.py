"""Child processes with their time and peak memory, repeated timings, and the table of results.

The parent process loads no data and no library: a child's peak counts what its parent held when
it was started. So every function that works on data is called in a child of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

FAIRREC = Path(sys.executable).with_name("fairrec")
FAIRREC_PAPER = Path(sys.executable).with_name("fairrec-paper")
_BYTES_OF_MAXRSS = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Child:
    """What a child process took; `seconds` is None where it ran into its time limit."""

    seconds: float | None
    processor_seconds: float
    peak_bytes: int
    output: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `is_met` is None where there is no bar."""

    case: str
    what: str
    measured: str
    bar: str = ""
    is_met: bool | None = None


def run_child(
    command: Sequence[str | Path],
    limit_seconds: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> Child:
    """Run a command to its end or its limit; an error of the command is an error here."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        child = subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=errors,
            env={**os.environ, **(environment or {})},
        )
        was_stopped = threading.Event()

        def stop() -> None:
            was_stopped.set()
            child.kill()

        timer = threading.Timer(limit_seconds or threading.TIMEOUT_MAX, stop)
        timer.daemon = True
        timer.start()
        # wait4 gives the peak of this child alone
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if child.returncode and not was_stopped.is_set():
            message = errors.read().decode()
            raise RuntimeError(f"{command} ended with {child.returncode}:\n{message}")
        return Child(
            None if was_stopped.is_set() else seconds,
            usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * _BYTES_OF_MAXRSS,
            output.read().decode(),
        )


def call_in_child(
    function: Callable[..., Any],
    *arguments: Any,
    limit_seconds: float | None = None,
    python: str | Path = sys.executable,
) -> tuple[Child, Any]:
    """Call a function of this package in a child; its arguments and answer travel as JSON.

    The child may be the Python of another environment, with what ours cannot have installed.
    """
    command = (
        *(python, "-m", "benchmarks.child"),
        *(function.__module__, function.__name__, json.dumps(arguments)),
    )
    child = run_child(command, limit_seconds)
    answer = None if child.seconds is None else json.loads(child.output.splitlines()[-1])
    return child, answer


def median_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Median time of some calls, after one that is not counted and compiles what needs it."""
    work()
    return median(seconds_of(work) for _ in range(repeats))


def seconds_of(work: Callable[[], object]) -> float:
    """Time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def slower(one: Any, other: Any) -> Any:
    """Of two answers the one that took longer.

    The machine may be shared: what is compared with a peer is timed before and after it, and
    the worse of the two counts.
    """
    return max(one, other, key=lambda answer: answer["seconds"])


def as_table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table that also reads well as text."""
    head = ("case", "what", "measured", "bar", "met")
    words = {True: "yes", False: "NO", None: ""}
    body = [(row.case, row.what, row.measured, row.bar, words[row.is_met]) for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = [head, tuple("-" * width for width in widths), *body]
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)


def in_seconds(seconds: float | None, limit_seconds: float = 0) -> str:
    """A time for the table, to three digits."""
    if seconds is None:
        return f"> {limit_seconds:g} s"
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.2f} s" if seconds < 100 else f"{seconds:.0f} s"


def median_run(runs: Sequence[Child]) -> tuple[float, str]:
    """Median time of some runs, and the same for the table with the processor time beside it.

    On two free cores the processor time is the longer of the two; where it is not by far, either
    the work runs on one core or others were using the machine.
    """
    seconds = median(run.seconds or 0 for run in runs)
    processor = median(run.processor_seconds for run in runs)
    return seconds, f"{in_seconds(seconds)} ({in_seconds(processor)} of processor)"


def in_gigabytes(n_bytes: int) -> str:
    """A size for the table."""
    return f"{n_bytes / 1e9:.2f} GB"
