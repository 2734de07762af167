"""What an audit was estimated to take, beside what it took.

An audit is asked for with the least memory that there can be, so that it tells its estimate, and
then with enough.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from benchmarks import data
from benchmarks.measure import FAIRREC, Row, in_gigabytes, run_child

SHAPES = ((40, 3, 1), (40, 3, 3), (60, 3, 1), (24, 8, 3))
"""Attributes, values of each, metrics."""
MOST = 1.1
"""Of what was estimated."""


def run(shrink: int) -> Iterator[Row]:
    """Peaks of audits of many groups, and of large tables read at once."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for n_attributes, n_values, n_metrics in SHAPES:
            command = many_groups(folder, 50_000 // shrink, n_attributes, n_values, n_metrics)
            what = f"{n_attributes} attributes of {n_values} values, {n_metrics} metrics"
            yield compared(what, command)
        rows = pl.scan_parquet(data.folder(shrink) / "rows.parquet").head(8_000_000 // shrink)
        rows.sink_csv(folder / "rows.csv")
        rows.sink_parquet(folder / "rows.parquet")
        for name in ("rows.csv", "rows.parquet"):
            users = data.folder(shrink) / "users.parquet"
            told = (FAIRREC, "audit", folder / name, "--users", users, "--by", "gender")
            command = (*told, "--metrics", "auc,ndcg@5", "--permutations", "50")
            yield compared(f"{name}, 8,000,000 rows", command)


def many_groups(
    folder: Path, n_users: int, n_attributes: int, n_values: int, n_metrics: int
) -> tuple[str | Path, ...]:
    """The command that audits values of users with so many attributes."""
    rng = np.random.default_rng(data.SEED)
    by = [f"a{i}" for i in range(n_attributes)]
    metrics = [f"m{i}" for i in range(n_metrics)]
    user = {"user": np.arange(n_users)}
    values = {name: rng.random(n_users).round(2) for name in metrics}
    attributes = {name: rng.integers(0, n_values, n_users) for name in by}
    pl.DataFrame({**user, **values}).write_parquet(folder / "values.parquet")
    pl.DataFrame({**user, **attributes}).write_parquet(folder / "users.parquet")
    return (
        *(FAIRREC, "audit", "--values", folder / "values.parquet"),
        *("--users", folder / "users.parquet", "--by", ",".join(by)),
        *("--metrics", ",".join(metrics), "--better", ",".join(f"{m}=higher" for m in metrics)),
        *("--permutations", "50", "--min-support", "0.001", "--out", folder / "out", "--force"),
    )


def compared(what: str, command: tuple[str | Path, ...]) -> Row:
    """Estimate and peak of one command."""
    refused = subprocess.run(
        [str(part) for part in (*command, "--max-memory", "500MB")],
        check=False,
        capture_output=True,
        text=True,
    )
    told = re.search(r"need about ([\d.,]+) GB", refused.stderr)
    child = run_child((*command, "--max-memory", "1000GB"))
    if told is None:
        return Row("memory", what, f"{in_gigabytes(child.peak_bytes)}, estimated below 0.5 GB")
    estimate = float(told[1].replace(",", "")) * 1e9
    share = child.peak_bytes / estimate
    measured = f"{in_gigabytes(child.peak_bytes)}, {share:.2f} of the estimate"
    return Row("memory", what, measured, f"{MOST}", share <= MOST)
