"""Recommendations and held-out interactions of 267,000 users: the whole command, and RecTools.

RecTools cannot be installed beside us (it wants older versions of numpy, pandas and attrs), so
`python -m benchmarks --rectools PYTHON recommendations` takes the Python of an environment with
rectools and pyarrow. Without it FairRec runs alone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.measure import (
    FAIRREC,
    Child,
    Row,
    call_in_child,
    in_gigabytes,
    in_seconds,
    median_run,
    median_seconds,
    run_child,
    seconds_of,
    slower,
)

METRICS = ("recall@10", "ndcg@10", "map@10", "precision@10", "hit@10", "mrr@10")
K = 10
WARM_RUNS = 3
LIMIT_SECONDS = 900
MAX_DIFFERENCE = 1e-9


def run(shrink: int, rectools_python: Path | None = None) -> Iterator[Row]:
    """The whole command: the first run, which compiles kernels, and later ones; then RecTools."""
    if not _tables(shrink)[0].exists():
        call_in_child(data.make_recommendations, shrink)
    shutil.rmtree(_kernels(shrink), ignore_errors=True)
    first = _audit(shrink)
    yield Row("recommendations", "first run, kernels compiled: time", median_run([first])[1])
    later = [_audit(shrink) for _ in range(WARM_RUNS)]
    yield Row("recommendations", "later runs: time", median_run(later)[1])
    peak = max(child.peak_bytes for child in (first, *later))
    yield Row("recommendations", "all runs: peak", in_gigabytes(peak))
    child, our = call_in_child(ours, shrink)
    yield Row("recommendations", "metrics alone, from frames", in_seconds(our["seconds"]))
    yield Row("recommendations", "metrics alone: peak", in_gigabytes(child.peak_bytes))
    if rectools_python is not None:
        yield from _beside(shrink, rectools_python)


def _beside(shrink: int, python: Path) -> Iterator[Row]:
    """The same tables and metrics by RecTools; ours are timed before and after."""
    before, (_, our) = _audit(shrink), call_in_child(ours, shrink)
    child, their = call_in_child(rectools, shrink, limit_seconds=LIMIT_SECONDS, python=python)
    if their is None or child.seconds is None:
        yield Row("recommendations", "RecTools", in_seconds(None, LIMIT_SECONDS))
        return
    after, (_, again) = _audit(shrink), call_in_child(ours, shrink)
    our = slower(our, again)
    name = f"RecTools {their['version']}"
    yield Row("recommendations", f"{name}: means by calc_metrics", in_seconds(their["seconds"]))
    yield Row("recommendations", f"{name}: values per user", in_seconds(their["per_user"]))
    yield Row("recommendations", f"{name}: reading", in_seconds(their["reading"]))
    yield Row("recommendations", f"{name}: peak", in_gigabytes(child.peak_bytes))
    for what, theirs in (("means", their["seconds"]), ("values per user", their["per_user"])):
        yield Row(
            "recommendations",
            f"metrics alone: RecTools, {what} / FairRec, values per user",
            f"{theirs / our['seconds']:.1f} x",
        )
    whole = max(run.seconds or 0.0 for run in (before, after))
    yield Row("recommendations", "whole command beside it, the slower of two", in_seconds(whole))
    yield Row(
        "recommendations",
        "whole: RecTools, reading and means / FairRec, groups, tests and report too",
        f"{(their['starting'] + their['reading'] + their['seconds']) / whole:.2f} x",
    )
    told = _means_of(shrink)
    apart = max(
        abs(means[metric] - their["means"][metric])
        for means in (our["means"], told)
        for metric in their["means"]
    )
    yield Row(
        "recommendations",
        f"largest difference of {len(their['means'])} means",
        f"{apart:.1e}",
        f"{MAX_DIFFERENCE:g}",
        apart <= MAX_DIFFERENCE,
    )


def ours(shrink: int) -> dict[str, Any]:
    """Time and means, from frames in memory to one value per user and metric."""
    import numpy as np
    import polars as pl

    from fairrec.core.threads import available_threads
    from fairrec.metrics.measured import measure_everyone
    from fairrec.metrics.reading import read_inputs

    recs, test, users = (pl.read_parquet(path) for path in _tables(shrink))

    def work() -> Any:
        inputs, metrics = read_inputs(recs, test=test, users=users, by=["gender"], metrics=METRICS)
        return measure_everyone(inputs, metrics, available_threads())

    seconds = median_seconds(work, repeats=3)
    measured = work()
    means = np.nanmean(measured.values, axis=1).tolist()
    names = [metric.name for metric in measured.metrics]
    return {"seconds": seconds, "means": dict(zip(names, means, strict=True))}


def rectools(shrink: int) -> dict[str, Any]:
    """Time and means by RecTools, with the parameters that make its metrics ours.

    Everyone holds out fewer items than the cut-off, so dividing by their number is ours too.
    """
    loaded: dict[str, Any] = {}
    starting = seconds_of(lambda: loaded.update(_rectools_metrics()))
    import pandas as pd
    from rectools.metrics import calc_metrics
    from rectools.version import VERSION

    paths = _tables(shrink)
    reading = seconds_of(
        lambda: loaded.update(recs=pd.read_parquet(paths[0]), test=pd.read_parquet(paths[1]))
    )
    recs, test, metrics = loaded["recs"], loaded["test"], loaded["metrics"]
    seconds = median_seconds(lambda: calc_metrics(metrics, recs, test), repeats=3)
    per_user = seconds_of(lambda: [one.calc_per_user(recs, test) for one in metrics.values()])
    means = {name: float(value) for name, value in calc_metrics(metrics, recs, test).items()}
    return {
        "starting": starting,
        "reading": reading,
        "seconds": seconds,
        "per_user": per_user,
        "means": means,
        "version": VERSION,
    }


def _rectools_metrics() -> dict[str, Any]:
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall

    found = (
        *(Recall(k=K), NDCG(k=K, divide_by_achievable=True), MAP(k=K)),
        *(Precision(k=K), HitRate(k=K), MRR(k=K)),
    )
    return {"metrics": dict(zip(METRICS, found, strict=True))}


def _audit(shrink: int) -> Child:
    recs, test, users = _tables(shrink)
    command = (
        *(FAIRREC, "audit", recs, "--test", test, "--users", users),
        *("--by", ",".join(data.ATTRIBUTES), "--metrics", ",".join(METRICS)),
        *("--out", _out(shrink), "--quiet"),
    )
    return run_child(command, environment={"NUMBA_CACHE_DIR": _kernels(shrink)})


def _means_of(shrink: int) -> dict[str, float]:
    """The mean over everyone of each metric, as the command told it."""
    result = json.loads((_out(shrink) / "result.json").read_text("utf-8"))
    return {name: result["metrics"][name]["mean"] for name in METRICS}


def _tables(shrink: int) -> tuple[Path, Path, Path]:
    home = data.folder(shrink)
    return home / "recs.parquet", home / "test.parquet", home / "recs-users.parquet"


def _out(shrink: int) -> Path:
    return data.folder(shrink) / "recommendations"


def _kernels(shrink: int) -> str:
    return str((data.folder(shrink) / "kernels-of-recommendations").absolute())
