"""An audit over HTTP on one machine: throughput beside the model in process, and memory."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import FAIRREC_PAPER, Row, call_in_child
from benchmarks.search import RAW, trained

AT_ONCE = 8
MIN_SHARE = 0.5
N_ROUNDS, N_PASSES = 3, 5
N_ROWS = 5_000_000
MOST_GROWTH_MB = 50


def run(shrink: int) -> Iterator[Row]:
    """DeepFM on MovieLens-1M, served by `fairrec-paper serve` on the cores of the client."""
    if not (RAW / "movielens-1m").exists():
        yield Row("endpoint", "movielens-1m", f"no data in {RAW}")
        return
    folder = trained("movielens-1m", "deepfm")
    with _served(folder) as (url, process):
        here_runs, http_runs = [], []
        for _ in range(N_ROUNDS if shrink == 1 else 1):
            # in turn, so that whatever else the machine does slows both
            here_runs.append(call_in_child(speed_in_process, str(folder))[1])
            http_runs.append(call_in_child(speed_over_http, str(folder), url, process.pid)[1])
        here, http = (median(run["rows"] for run in runs) for runs in (here_runs, http_runs))
        yield Row("endpoint", "DeepFM in process", f"{here / 1e3:,.0f} thousand rows/s")
        what = f"the same batches over HTTP, {AT_ONCE} at once"
        yield Row("endpoint", what, f"{http / 1e3:,.0f} thousand rows/s")
        shares = [a["rows"] / b["rows"] for a, b in zip(http_runs, here_runs, strict=True)]
        words = f"{http / here:.2f} (rounds {', '.join(f'{share:.2f}' for share in shares)})"
        yield Row("endpoint", "share", words, f"{MIN_SHARE}", http / here >= MIN_SHARE)
        costs = [median(run["processor"] for run in runs) for runs in (here_runs, http_runs)]
        yield Row(
            "endpoint",
            "processor time a row, in process and over HTTP (client and server)",
            f"{costs[0]:.2f} µs and {costs[1]:.2f} µs (share {costs[0] / costs[1]:.2f})",
        )

        n_rows = N_ROWS // shrink
        before = _resident_mb(process.pid)
        _, seen = call_in_child(memory_over_http, str(folder), url, n_rows)
        growth = seen["last"] - seen["first"]
        scores = 8 * (seen["last_rows"] - seen["first_rows"]) / 1e6
        yield Row(
            "endpoint",
            f"memory of an audit of {seen['n_rows']:,} candidates, from its {seen['first_rows']:,}"
            "th score to the last",
            f"{seen['first']:,.0f} MB to {seen['last']:,.0f} MB ({scores:.0f} MB of it scores)",
            f"{MOST_GROWTH_MB} MB beside the scores",
            growth - scores <= MOST_GROWTH_MB,
        )
        after = _resident_mb(process.pid)
        yield Row("endpoint", "memory of the server", f"{before:,.0f} MB to {after:,.0f} MB")


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [str(FAIRREC_PAPER), "serve", str(folder), "--port", "0", "--device", "cpu"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None, "the server did not start"
        yield found[0], process
    finally:
        process.terminate()
        process.communicate()


def speed_in_process(folder: str) -> dict[str, float]:
    """Rows scored a second by the run itself: calls that share the cores, or one for each core."""
    import torch

    from fairrec.scoring.model import FunctionModel
    from fairrec_paper.models.run import load_run

    run = load_run(Path(folder))
    found = []
    for concurrency, threads in ((1, torch.get_num_threads()), (torch.get_num_threads(), 1)):
        torch.set_num_threads(threads)
        model = FunctionModel(run.score, concurrency=concurrency, rows_per_call=_rows_per_call())
        found.append(_speed(folder, model, [os.getpid()]))
    return max(found, key=lambda one: one["rows"])


def speed_over_http(folder: str, url: str, server: int) -> dict[str, float]:
    """Rows scored a second by the server."""
    from fairrec.scoring.endpoint import Endpoint

    return _speed(folder, Endpoint(url, concurrency=AT_ONCE), [os.getpid(), server])


def _rows_per_call() -> int:
    from fairrec.scoring.options import ENDPOINT_ROWS

    return ENDPOINT_ROWS


def _speed(folder: str, model: Any, processes: list[int]) -> dict[str, float]:
    """Median over passes of rows a second and of µs a row, everyone scored through a ledger."""
    import numpy as np
    import polars as pl

    from fairrec.inputs.candidates import read_candidates
    from fairrec.inputs.tables import Table
    from fairrec.scoring.ledger import Ledger
    from fairrec.scoring.scorer import ModelScorer

    users = pl.read_parquet(Path(folder) / "users.parquet")["user_id"]
    table = Table(Path(folder) / "test.parquet", "predictions")
    candidates, user_of_list, _ = read_candidates(table, users, "users", False, False)
    scorer = ModelScorer(model, candidates, users.gather(user_of_list))
    lists = np.arange(candidates.n_users)
    speeds, costs = [], []
    for _ in range(N_PASSES):
        with Ledger(
            candidates, scorer, model.rows_per_call, None, "", None, model.concurrency, model.stop
        ) as ledger:
            started, used = time.perf_counter(), sum(map(_processor_seconds, processes))
            ledger.pay_for(lists)
            speeds.append(ledger.rows / (time.perf_counter() - started))
            costs.append((sum(map(_processor_seconds, processes)) - used) / ledger.rows * 1e6)
    return {"rows": median(speeds), "processor": median(costs)}


def memory_over_http(folder: str, url: str, n_rows: int) -> dict[str, float]:
    """Memory of this process after a tenth and after all of so many candidates were scored."""
    import tempfile

    import numpy as np
    import polars as pl

    import fairrec
    from fairrec.search.options import Search

    users = pl.read_parquet(Path(folder) / "users.parquet")
    items = pl.read_parquet(Path(folder) / "items.parquet")["item_id"].to_numpy()
    n_each = n_rows // users.height
    rng = np.random.default_rng(0)
    lists = np.stack([rng.permutation(items)[:n_each] for _ in range(users.height)])
    labels = np.zeros(lists.shape, dtype=np.int8)
    labels[:, 0] = 1
    candidates = pl.DataFrame({"user_id": users["user_id"], "item_id": lists, "label": labels})
    seen: dict[str, float] = {"n_rows": lists.size}
    del lists, labels

    def watch(stage: str, done: int, total: int) -> None:
        if not stage.startswith("searching") or not done:
            return
        if 10 * done >= total and "first" not in seen:
            seen.update(first=_resident_mb(os.getpid()), first_rows=done * n_each)
        seen.update(last=_resident_mb(os.getpid()), last_rows=done * n_each)

    with tempfile.TemporaryDirectory() as home:
        fairrec.audit(
            candidates,
            users=users,
            by=["gender", "age", "occupation"],
            metrics="ndcg@5",
            statistics=fairrec.Statistics(permutations=0),
            scorer=fairrec.Endpoint(url, concurrency=AT_ONCE),
            search=Search("exact", ledger=Path(home) / "ledger.db"),
            engine=fairrec.Engine(progress=watch),
        )
    return seen


def _processor_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def _resident_mb(pid: int) -> float:
    """Memory that a process holds now."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1000
