"""Counting users beside what one would write instead, and permutations of a hundred million."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.measure import Row, call_in_child, in_gigabytes, in_seconds, slower

SHAPES = ((1_000, 6, 0.6), (1_000, 51, 28.0), (50_000, 6, 117.0))
"""Cells, levels, and the milliseconds a permutation of so many takes at most."""
N_USERS = 100_000_000
BY = ("gender", "country")
PEERS = ("DuckDB", "Polars streaming", "PySpark")
"""The last one where it is installed."""
TIES = ((50, 50, 1), (20, 100, 1), (50, 50, 5))
"""Shortest and longest lists, and relevant items in each; some lists have one score throughout."""
METRICS = "auc,ndcg@5"


def run(shrink: int) -> Iterator[Row]:
    """Permutations first, which need no data; then counting."""
    for n_cells, n_levels, most in SHAPES:
        _, found = call_in_child(permutations, N_USERS // shrink, n_cells, n_levels)
        what = f"permutation of {N_USERS // shrink:,} users: {n_cells:,} cells x {n_levels} levels"
        seconds = found["seconds"]
        yield Row("counts", what, in_seconds(seconds), f"{most:g} ms", seconds <= most / 1000)
    _, shuffled = call_in_child(shuffle, N_USERS // shrink // 10)
    yield Row(
        "counts",
        f"a shuffle of {N_USERS // shrink:,} users, from a tenth of them",
        in_seconds(10 * shuffled["seconds"]),
    )
    for lists in TIES:
        found = [call_in_child(counts_of_ties, shrink, share, *lists)[1] for share in (0.0, 0.15)]
        shortest, longest, n_relevant = lists
        yield Row(
            "counts",
            f"lists of {shortest} to {longest}, {n_relevant} relevant: levels, size and share of "
            "the standard deviation kept, without and with 15% of one score",
            " and ".join(
                f"{one['levels']:,.0f}, {one['bytes'] / 1e3:,.0f} kB, {one['kept']:.4f}"
                for one in found
            ),
        )
    home = str(data.folder(shrink))
    _, warm = call_in_child(count, home, "fairrec")
    ours = None
    for peer in PEERS:
        if peer == "PySpark" and find_spec("pyspark") is None:
            continue
        before, mine = call_in_child(count, home, "fairrec")
        theirs, its = call_in_child(count, home, peer)
        after, again = call_in_child(count, home, "fairrec")
        ours = slower(mine, again)
        if abs(its["auc"] - ours["auc"]) > 1e-9 * abs(ours["auc"]):
            raise RuntimeError(f"{peer} has another sum: {its['auc']} and {ours['auc']}")
        ratio = ours["seconds"] / its["seconds"]
        yield Row(
            "counts",
            f"counting {METRICS} by {' and '.join(BY)}: time beside {peer}",
            f"{in_seconds(ours['seconds'])} and {in_seconds(its['seconds'])}, {ratio:.2f} of it",
        )
        yield Row(
            "counts",
            f"the same: peak beside {peer}",
            f"{in_gigabytes(max(before.peak_bytes, after.peak_bytes))} and "
            f"{in_gigabytes(theirs.peak_bytes)}",
        )
    del warm


def permutations(n_users: int, n_cells: int, n_levels: int) -> dict[str, float]:
    """Seconds a table takes."""
    import numpy as np

    from fairrec.statistics.draws import random_table

    rng = np.random.default_rng(0)
    sizes = rng.multinomial(n_users, np.full(n_cells, 1 / n_cells))
    totals = rng.multinomial(n_users, np.full(n_levels, 1 / n_levels))
    n_draws = max(3, 500_000 // (n_cells * n_levels))
    random_table(sizes, totals, rng)
    started = time.process_time()
    for _ in range(n_draws):
        random_table(sizes, totals, rng)
    return {"seconds": (time.process_time() - started) / n_draws}


def counts_of_ties(
    shrink: int, share: float, shortest: int, longest: int, n_relevant: int
) -> dict[str, float]:
    """Levels of `auc` and `ndcg@10`, bytes of the file, and what its levels keep of `ndcg@10`.

    Parameters
    ----------
    share : of the lists, in which all scores are equal
    """
    import tempfile

    import numpy as np
    import polars as pl

    import fairrec
    from fairrec.counts.levels import kept_on
    from fairrec.counts.table import write_counts

    rng = np.random.default_rng(0)
    n_users = data.N_USERS // shrink
    lengths = rng.integers(shortest, longest + 1, n_users)
    place = np.concatenate([np.arange(n) for n in lengths])
    users = np.repeat(np.arange(n_users), lengths)
    label = (place < n_relevant).astype(np.int8)
    score = rng.normal(size=len(users)) + label
    score[(rng.random(n_users) < share)[users]] = 0.0
    rows = pl.DataFrame({"user_id": users, "item_id": place, "score": score, "label": label})
    people = pl.DataFrame({name: rng.integers(0, 10, n_users) for name in BY})
    people = people.with_columns(user_id=np.arange(n_users))
    counts = fairrec.count(rows, users=people, by=list(BY), metrics="auc,ndcg@10")
    with tempfile.TemporaryDirectory() as folder:
        write_counts(counts, Path(folder) / "counts.parquet")
        n_bytes = (Path(folder) / "counts.parquet").stat().st_size
    assert counts.info is not None
    edges, kept = counts.info.levels.get("ndcg@10"), 1.0
    if edges is not None:
        result = fairrec.audit(
            rows,
            users=people,
            by="gender",
            metrics="ndcg@10",
            statistics=fairrec.Statistics(permutations=0),
        )
        assert result.per_user is not None
        kept = kept_on(np.array(edges), result.per_user["ndcg@10"].to_numpy())
    n_levels = counts.rows.select("family", "level").n_unique()
    return {"levels": n_levels, "bytes": n_bytes, "kept": kept}


def shuffle(n_users: int) -> dict[str, float]:
    """Seconds that one shuffle of users and the sums over cells take."""
    import numpy as np

    from fairrec.core.audit_options import AuditOptions
    from fairrec.groups.grouping import Grouping
    from fairrec.inputs.users import Attribute
    from fairrec.statistics.draws import PermutedSums
    from fairrec.statistics.moments import group_moments

    rng = np.random.default_rng(0)
    codes = rng.integers(0, 1000, n_users).astype(np.int32)
    grouping = Grouping.of([Attribute("a", codes, tuple(range(1000)))], AuditOptions())
    moments = group_moments(rng.integers(0, 6, (1, n_users)) / 5, grouping)
    draws = PermutedSums(moments, grouping.cells)
    draws.cell_sums(0, 0)
    started = time.process_time()
    draws.cell_sums(0, 1)
    return {"seconds": time.process_time() - started}


def count(home: str, who: str) -> dict[str, Any]:
    """Seconds to count users by two attributes, and the sum of one metric."""
    predictions, users = Path(home) / "rows.parquet", Path(home) / "users.parquet"
    if who == "fairrec":
        import fairrec

        started = time.perf_counter()
        rows = fairrec.count(predictions, users=users, by=list(BY), metrics=METRICS).rows
    elif who == "DuckDB":
        import duckdb

        started = time.perf_counter()
        found = duckdb.sql(_sql(f"'{predictions}'", f"'{users}'"))
        assert found is not None
        rows = found.pl()
    elif who == "PySpark":
        return _in_spark(predictions, users)
    else:
        started = time.perf_counter()
        rows = _in_polars(predictions, users)
    return {"seconds": time.perf_counter() - started, "auc": float(rows["auc"].sum())}


def _in_spark(predictions: Path, users: Path) -> dict[str, Any]:
    """Without the start of its virtual machine, which takes seconds."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = spark.config("spark.driver.memory", "6g").getOrCreate()
    session.read.parquet(str(predictions)).createOrReplaceTempView("predictions")
    session.read.parquet(str(users)).createOrReplaceTempView("users")
    started = time.perf_counter()
    rows = session.sql(_sql("predictions", "users")).collect()
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "auc": float(sum(row["auc"] for row in rows))}


def _sql(predictions: str, users: str) -> str:
    keys = ", ".join(BY)
    return f"""
    WITH ranked AS (
      SELECT user_id, label,
        row_number() OVER (PARTITION BY user_id ORDER BY score DESC) AS place,
        count(*) OVER (PARTITION BY user_id) AS length
      FROM {predictions}
    ), measured AS (
      SELECT user_id, place || '/' || length AS level, (length - place) / (length - 1) AS auc,
        CASE WHEN place <= 5 THEN 1 / log2(1 + place) ELSE 0 END AS ndcg
      FROM ranked WHERE label > 0
    )
    SELECT {keys}, level, count(*) AS users, sum(auc) AS auc, sum(auc * auc) AS auc2,
      sum(ndcg) AS ndcg, sum(ndcg * ndcg) AS ndcg2
    FROM measured JOIN {users} USING (user_id) GROUP BY ALL
    """


def _in_polars(predictions: Path, users: Path) -> Any:
    import polars as pl

    relevant = pl.scan_parquet(predictions).filter(pl.col("label") > 0)
    everyone = pl.scan_parquet(predictions)
    # the rank of the relevant item is one more than the items above it
    ranked = (
        everyone.join(relevant.select("user_id", best="score"), on="user_id")
        .group_by("user_id")
        .agg(place=(pl.col("score") > pl.col("best")).sum() + 1, length=pl.len())
    )
    auc = (pl.col("length") - pl.col("place")) / (pl.col("length") - 1)
    ndcg = pl.when(pl.col("place") <= 5).then(1 / (1 + pl.col("place")).log(2)).otherwise(0.0)
    return (
        ranked.with_columns(auc=auc, ndcg=ndcg)
        .join(pl.scan_parquet(users), on="user_id")
        .group_by(*BY, "place", "length")
        .agg(
            pl.len(),
            pl.col("auc", "ndcg").sum(),
            (pl.col("auc", "ndcg") ** 2).sum().name.suffix("2"),
        )
        .collect(engine="streaming")
    )
