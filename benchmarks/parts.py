"""A hundred million rows on one machine: 2 million users with 50 candidates each, read in parts.

The table is a folder of Parquet files below the system's folder for scratch files, made for this
run and removed after it. Each part is read and measured; the values are discarded.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data import N_CANDIDATES, N_ITEMS, SEED
from benchmarks.measure import Child, Row, call_in_child, in_gigabytes, in_seconds

N_ALL = 2_000_000
N_FILES = 20
METRICS = ("auc", "mrr@5", "ndcg@5")
MAX_BYTES = 2e9


def run(shrink: int) -> Iterator[Row]:
    """The time and the memory of a table whose rows are in no order."""
    home = Path(tempfile.mkdtemp(prefix="fairrec-bench-parts-"))
    try:
        n_users = N_ALL // shrink
        call_in_child(make, str(home), n_users)
        child, found = call_in_child(in_parts, str(home))
        yield from _rows(n_users, child, found)
    finally:
        shutil.rmtree(home)


def _rows(n_users: int, child: Child, found: dict[str, Any]) -> Iterator[Row]:
    n_rows, peak = n_users * N_CANDIDATES, child.peak_bytes
    speed = n_rows / found["seconds"] / 1e6
    measured = f"{in_seconds(found['seconds'])}, {speed:.2f} million rows a second"
    yield Row("parts", f"{n_rows:,} rows, {found['n_parts']:,} parts: all", measured)
    yield Row("parts", "before the first part", in_seconds(found["opening"]))
    is_met = peak <= MAX_BYTES
    yield Row("parts", "peak", in_gigabytes(peak), in_gigabytes(int(MAX_BYTES)), is_met)


def make(home: str, n_users: int) -> None:
    """Users with three attributes in no order, and their candidates in files."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED)
    Path(home).mkdir(parents=True)
    (Path(home) / "predictions").mkdir()
    countries = np.array([f"C{code:03}" for code in range(239)])
    users = np.arange(n_users)
    pl.DataFrame(
        {
            "user_id": rng.permutation(_ids(users, n_users)),
            "gender": pl.Series(rng.integers(2, size=n_users, dtype=np.int8)).replace_strict(
                {0: "F", 1: "M"}
            ),
            "age": rng.integers(111, size=n_users, dtype=np.int16),
            "country": pl.Series(countries).gather(rng.integers(239, size=n_users)),
        }
    ).write_parquet(Path(home) / "users.parquet")
    for number in range(N_FILES):
        # each file has rows of all users, one after the other
        pairs = np.arange(number, n_users * N_CANDIDATES, N_FILES)
        owner, place = pairs % n_users, pairs // n_users
        step = 1 + owner * 48_271 % (N_ITEMS - 1)
        label = (owner * 69_621 % 9_973 % N_CANDIDATES == place).astype(np.int8)
        score = rng.standard_normal(len(owner), dtype=np.float32) + label
        pl.DataFrame(
            {
                "user_id": _ids(owner, n_users),
                "item_id": ((owner + step * place) % N_ITEMS).astype(np.int32),
                "score": score,
                "label": label,
            }
        ).write_parquet(Path(home) / "predictions" / f"{number:05}.parquet")


def _ids(users: Any, n_users: int) -> Any:
    """Ids in no order and with gaps."""
    return users * 7_919 % (10 * n_users + 1) + 1_000_000_000


def in_parts(home: str) -> dict[str, Any]:
    """The table in parts, measured one after the other."""
    import time

    from fairrec.inputs.partition import open_parts

    started = time.perf_counter()
    with open_parts(**_tables(home)) as parts:
        opening = time.perf_counter() - started
        for part in parts:
            _measure({**_tables(home), **part.tables})
        return {
            "opening": opening,
            "n_parts": len(parts),
            "seconds": time.perf_counter() - started,
        }


def _measure(tables: dict[str, Any]) -> None:
    from fairrec.core.threads import available_threads
    from fairrec.metrics.measured import measure_everyone
    from fairrec.metrics.reading import read_inputs

    inputs, metrics = read_inputs(**tables)
    measure_everyone(inputs, metrics, available_threads())


def _tables(home: str) -> dict[str, Any]:
    return {
        "predictions": str(Path(home) / "predictions"),
        "users": str(Path(home) / "users.parquet"),
        "by": ["gender", "age", "country"],
        "metrics": METRICS,
    }
