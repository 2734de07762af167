"""How soon the package, its help and its demo answer, in fresh processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from statistics import median

from benchmarks import data
from benchmarks.measure import FAIRREC, Row, in_seconds, run_child

RUNS = 5


def run(shrink: int) -> Iterator[Row]:
    """Median times; the interpreter's own start is counted and shown for comparison."""
    demo = (FAIRREC, "demo", "--out", data.folder(shrink) / "demo", "--quiet")
    cases = (
        ("python -c pass", (sys.executable, "-c", "pass"), RUNS, None),
        ("import fairrec", (sys.executable, "-c", "import fairrec"), RUNS, 0.5),
        ("fairrec --help", (FAIRREC, "--help"), RUNS, 1.0),
        ("fairrec demo", demo, 1, 20.0),
    )
    for what, command, n_runs, bar in cases:
        seconds = median(run_child(command).seconds or 0 for _ in range(n_runs))
        if bar is None:
            yield Row("start", what, in_seconds(seconds))
        else:
            yield Row("start", what, in_seconds(seconds), f"{bar:g} s", seconds <= bar)
