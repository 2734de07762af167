"""What engines cost beside the work on parts: Ray against one process, start-up apart.

A part is read, ranked and measured; it is worked on as often as takes about two seconds. All
processes that Ray starts are counted, so this needs Linux.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import data
from benchmarks.measure import Row, call_in_child, in_seconds

if TYPE_CHECKING:
    from fairrec.core.arrays import FloatArray

PART_SECONDS = 2.0
MAX_OUTSIDE = 0.10
N_PARTS = 12
N_WORKERS = 2
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Rows:
    """Some rows of the table, of whole users."""

    file: Path
    start: int
    n_rows: int

    @property
    def name(self) -> str:
        return f"{self.file.name} from row {self.start}"


def run(shrink: int) -> Iterator[Row]:
    """One part at a time, two at once, and Ray with two workers, in turn."""
    _, repeats = call_in_child(repeats_for, shrink)
    local = [call_in_child(measured, shrink, "local", n, repeats)[1] for n in (1, N_WORKERS)]
    _, ray = call_in_child(measured, shrink, "ray", N_WORKERS, repeats)
    again = call_in_child(measured, shrink, "local", 1, repeats)[1]
    # what others are compared with counts by its better run
    one, two = min(local[0], again, key=lambda answer: answer["seconds"]), local[1]
    yield Row("engines", f"{N_PARTS} parts, local, one at a time", _in_words(one))
    yield Row("engines", f"{N_PARTS} parts, local, two at once", _in_words(two))
    yield Row("engines", f"{N_PARTS} parts, Ray, two workers", _in_words(ray))
    yield Row("engines", "a part by itself on a worker", in_seconds(ray["inside"] / N_PARTS))
    outside = 1 - ray["inside"] / ray["processor"]
    yield Row(
        "engines",
        "Ray: processor time outside the function",
        f"{outside:.1%}",
        f"{MAX_OUTSIDE:.0%}",
        outside <= MAX_OUTSIDE,
    )
    yield Row("engines", "two at once / one at a time", f"{two['seconds'] / one['seconds']:.2f} x")
    yield Row("engines", "Ray / two at once", f"{ray['seconds'] / two['seconds']:.2f} x")
    starting = f"{in_seconds(ray['start'])} ({in_seconds(ray['start_processor'])} of processor)"
    yield Row("engines", "Ray: start and first part of each worker", starting)
    yield Row("engines", "Ray: a task that does nothing", in_seconds(ray["empty"]))
    is_same = len({tuple(answer["sums"]) for answer in (*local, again, ray)}) == 1
    yield Row("engines", "same bits", str(is_same), "True", is_same)


def repeats_for(shrink: int) -> int:
    """How often a part is worked on to take about two seconds."""
    first = parts(shrink)[0]
    work(first, 1, 1)
    return math.ceil(PART_SECONDS / max(1e-3, float(work(first, 1, 1)[-1])))


def measured(shrink: int, name: str, workers: int, repeats: int) -> dict[str, Any]:
    """Times of all parts on an engine whose workers are warm, and of getting there."""
    from fairrec.core.audit_options import Engine
    from fairrec.counts.executor import fold, open_executor

    begun, used = time.perf_counter(), processor_seconds()
    with open_executor(Engine(engine=name, workers=workers)) as executor:
        function = partial(work, threads=executor.threads, repeats=repeats)
        once = partial(work, threads=executor.threads, repeats=1)
        all_parts = parts(shrink)
        fold(added, executor.map(once, all_parts[: 2 * workers]))
        start, start_processor = time.perf_counter() - begun, processor_seconds() - used
        begun, used = time.perf_counter(), processor_seconds()
        total = fold(added, executor.map(function, all_parts))
        seconds, processor = time.perf_counter() - begun, processor_seconds() - used
        n_empty = 200
        begun = time.perf_counter()
        for _ in executor.map(nothing, all_parts[:1] * n_empty):
            pass
        empty = (time.perf_counter() - begun) / n_empty
    return {
        "seconds": seconds,
        "processor": processor,
        "inside": float(total[-1]),
        "sums": total[:-1].tolist(),
        "start": start,
        "start_processor": start_processor,
        "empty": empty,
    }


def parts(shrink: int) -> list[Rows]:
    """The table in parts of equally many users."""
    n_rows = data.N_USERS // shrink // N_PARTS * data.N_CANDIDATES
    file = (data.folder(shrink) / "rows.parquet").absolute()
    return [Rows(file, number * n_rows, n_rows) for number in range(N_PARTS)]


def work(part: Rows, threads: int, repeats: int) -> FloatArray:
    """Sums of three metrics over the users of a part, and the processor seconds it took."""
    import numpy as np
    import polars as pl

    from fairrec.inputs.candidates import CandidateLists
    from fairrec.inputs.side_data import SideData
    from fairrec.metrics import parse_metric
    from fairrec.metrics.ranked import RankedLists

    used = time.process_time()
    metrics = [parse_metric(name) for name in ("ndcg@5", "mrr@5", "auc")]
    for _ in range(repeats):
        table = pl.scan_parquet(part.file).slice(part.start, part.n_rows).collect()
        candidates = CandidateLists(
            offsets=np.arange(0, len(table) + 1, data.N_CANDIDATES),
            items=table["item_id"].to_numpy().astype(np.int32),
            scores=table["score"].to_numpy(),
            labels=table["label"].to_numpy().astype(np.float64),
            item_ids=pl.Series(np.arange(data.N_ITEMS)),
        )
        lists = RankedLists(candidates, 5, SideData(), threads)
        sums = [float(metric.compute(lists).sum()) for metric in metrics]
    return np.array([*sums, time.process_time() - used])


def added(left: FloatArray, right: FloatArray) -> FloatArray:
    """The sums of both."""
    return left + right


def nothing(part: Rows) -> None:
    """Takes no time."""


def processor_seconds() -> float:
    """Of this process and all it has started, directly or not, and what these have waited for."""
    stats: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            stats[int(entry.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    family: set[int] = set()
    found = {os.getpid()}
    while found:
        family |= found
        found = {pid for pid, (parent, _) in stats.items() if parent in family} - family
    return sum(stats[pid][1] for pid in family) / _TICKS


def _in_words(answer: dict[str, Any]) -> str:
    processor = in_seconds(answer["processor"])
    return f"{in_seconds(answer['seconds'])} ({processor} of processor)"
