"""A million users with 24 attributes: all groups, the whole command, and data frame libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import combinations
from typing import Any

from benchmarks import data
from benchmarks.measure import (
    FAIRREC,
    Row,
    call_in_child,
    in_gigabytes,
    in_seconds,
    median_run,
    median_seconds,
    run_child,
    seconds_of,
)

MAX_SECONDS_GROUPS = 2
MAX_SECONDS_COMMAND = 10
MIN_SUPPORT = 0.001
LIMIT_SECONDS = 300
NAMES = tuple(f"a{i:02}" for i in range(len(data.N_VALUES_WIDE)))
RUNS = 3


def run(shrink: int) -> Iterator[Row]:
    """Groups and their means by us and by others, then the command without permutations."""
    case = "many-attributes"
    child, our = call_in_child(ours, shrink)
    yield Row(
        case,
        f"FairRec: {our['n_groups']:,} groups",
        in_seconds(our["seconds"]),
        f"{MAX_SECONDS_GROUPS} s",
        our["seconds"] <= MAX_SECONDS_GROUPS,
    )
    yield Row(case, "FairRec: peak", in_gigabytes(child.peak_bytes))
    peers: dict[str, Callable[[int], Any]] = {
        "Polars": polars,
        "pandas": pandas,
        "DuckDB": duckdb,
    }
    for name, peer in peers.items():
        if find_spec(name.lower()) is None:
            yield Row(case, name, "not installed")
            continue
        child, their = call_in_child(peer, shrink, limit_seconds=LIMIT_SECONDS)
        if their is None:
            yield Row(case, name, in_seconds(None, LIMIT_SECONDS))
            continue
        yield Row(case, f"{name}: {their['n_groups']:,} groups", in_seconds(their["seconds"]))
        apart = abs(their["total"] - our["total"]) / our["n_groups"]
        yield Row(case, f"{name}: difference of the mean group mean", f"{apart:.1e}")
        yield Row(case, f"{name} / FairRec", f"{their['seconds'] / our['seconds']:.1f} x")
        yield Row(case, f"{name}: peak", in_gigabytes(child.peak_bytes))
    yield from _command(case, shrink)


def _command(case: str, shrink: int) -> Iterator[Row]:
    home = data.folder(shrink)
    command = (
        *(FAIRREC, "audit", home / "wide-rows.parquet", "--users", home / "wide-users.parquet"),
        *("--by", ",".join(NAMES), "--metrics", "auc,mrr@5,ndcg@5", "--depth", "3"),
        *("--permutations", "0", "--out", home / "wide-audit", "--quiet"),
    )
    # the first one may compile kernels
    run_child(command)
    runs = [run_child(command) for _ in range(RUNS)]
    seconds, measured = median_run(runs)
    yield Row(
        case,
        "command without permutations",
        measured,
        f"{MAX_SECONDS_COMMAND} s",
        seconds <= MAX_SECONDS_COMMAND,
    )
    yield Row(case, "command: peak", in_gigabytes(max(run.peak_bytes for run in runs)))


def ours(shrink: int) -> dict[str, object]:
    """Cells, lattice and means from attribute codes."""
    import numpy as np

    from fairrec.core.audit_options import AuditOptions
    from fairrec.groups.cells import build_cells
    from fairrec.groups.lattice import build_lattice

    table = _population(shrink)
    columns = [table[name].to_numpy().astype(np.int32) for name in NAMES]
    value = table["value"].to_numpy()
    options = AuditOptions(min_support=MIN_SUPPORT)
    min_users = options.min_users(len(value))

    def work() -> Any:
        cells = build_cells(columns, data.N_VALUES_WIDE)
        lattice = build_lattice(cells, 3, min_users, options.n_threads)
        return lattice.sums(cells.sums(value)[None], options.n_threads)[0] / lattice.n_users

    seconds = median_seconds(work, RUNS)
    means = work()
    return {"seconds": seconds, "n_groups": len(means), "total": float(means.sum())}


def polars(shrink: int) -> dict[str, object]:
    """One group-by for each set of attributes."""
    import polars as pl

    table = _population(shrink)
    min_users = MIN_SUPPORT * len(table)

    def groups(subset: tuple[str, ...]) -> tuple[int, float]:
        found = table.group_by(subset).agg(pl.len(), pl.col("value").mean())
        means = found.filter(pl.col("len") >= min_users)["value"]
        return len(means), means.sum()

    return _count(groups)


def pandas(shrink: int) -> dict[str, object]:
    """One group-by for each set of attributes."""
    table = _population(shrink).to_pandas()
    min_users = MIN_SUPPORT * len(table)

    def groups(subset: tuple[str, ...]) -> tuple[int, float]:
        found = table.groupby(list(subset))["value"].agg(["size", "mean"])
        means = found.loc[found["size"] >= min_users, "mean"]
        return len(means), means.sum()

    return _count(groups)


def duckdb(shrink: int) -> dict[str, object]:
    """One group-by for each set of attributes, as a query."""
    import duckdb

    table = _population(shrink)
    database = duckdb.connect()
    database.register("frame", table.to_arrow())
    database.execute("create table users as select * from frame")
    min_users = MIN_SUPPORT * len(table)

    def groups(subset: tuple[str, ...]) -> tuple[int, float]:
        names = ", ".join(subset)
        query = (
            f"select {names}, avg(value) as mean from users group by {names} "
            f"having count(*) >= {min_users}"
        )
        means = database.execute(query).fetchnumpy()["mean"]
        return len(means), means.sum()

    return _count(groups)


def _count(groups: Callable[[tuple[str, ...]], tuple[int, float]]) -> dict[str, object]:
    """Time and number of all groups of up to three attributes, and the total of their means."""
    found: list[tuple[int, float]] = []

    def work() -> None:
        found.extend(groups(s) for size in (1, 2, 3) for s in combinations(NAMES, size))

    seconds = seconds_of(work)
    counts, totals = zip(*found, strict=True)
    return {"seconds": seconds, "n_groups": sum(counts), "total": float(sum(totals))}


def _population(shrink: int) -> Any:
    """Codes of the attributes, as narrow as they can be, and a seeded value per user."""
    import numpy as np
    import polars as pl

    users = pl.read_parquet(data.folder(shrink) / "wide-users.parquet")
    value = np.random.default_rng(data.SEED).random(len(users))
    return users.select(pl.col(NAMES).cast(pl.Int8), pl.Series("value", value))
