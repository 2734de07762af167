"""All groups of up to three attributes with their means, against DivExplorer and fairlearn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import data
from benchmarks.measure import (
    Row,
    call_in_child,
    in_gigabytes,
    in_seconds,
    median_seconds,
    seconds_of,
    slower,
)

if TYPE_CHECKING:
    import polars as pl

MIN_SUPPORT = 0.001
MAX_DIFFERENCE = 1e-9
LIMIT_SECONDS = 300
SMALLER = 20


def run(shrink: int) -> Iterator[Row]:
    """Times of all three and how far apart their means are; smaller where a peer takes too long."""
    peers: tuple[tuple[str, Callable[[int], Any], int], ...] = (
        ("DivExplorer", divexplorer, 100),
        ("fairlearn", fairlearn, 1000),
    )
    child, our = call_in_child(ours, shrink)
    yield Row("lattice", f"FairRec: {our['n_groups']:,} groups", in_seconds(our["seconds"]))
    yield Row("lattice", "FairRec: peak", in_gigabytes(child.peak_bytes))
    for name, peer, min_ratio in peers:
        child, their = call_in_child(peer, shrink, limit_seconds=LIMIT_SECONDS)
        if their is not None:
            _, again = call_in_child(ours, shrink)
            yield from _beside(name, slower(our, again), their, min_ratio, shrink, "")
            yield Row("lattice", f"{name}: peak", in_gigabytes(child.peak_bytes))
            continue
        yield Row("lattice", name, in_seconds(None, LIMIT_SECONDS))
        smaller = shrink * SMALLER
        call_in_child(data.make_lists, smaller)
        _, our_smaller = call_in_child(ours, smaller)
        _, their = call_in_child(peer, smaller)
        yield from _beside(name, our_smaller, their, min_ratio, smaller, f", 1/{SMALLER} of users")


def _beside(
    name: str, our: Any, their: Any, min_ratio: int, shrink: int, note: str
) -> Iterator[Row]:
    yield Row(
        "lattice", f"{name}: {their['n_groups']:,} groups{note}", in_seconds(their["seconds"])
    )
    ratio = their["seconds"] / our["seconds"]
    yield Row(
        "lattice",
        f"{name} / FairRec{note}",
        f"{ratio:,.0f} x",
        f"{min_ratio:,} x",
        ratio >= min_ratio,
    )
    _, seen = call_in_child(compare, shrink, name)
    # a tool that drops or adds groups must not pass by agreeing on the rest
    is_met = seen["apart"] <= MAX_DIFFERENCE and seen["n_missing"] == 0
    yield Row(
        "lattice",
        f"{name}: largest difference in {seen['n_shared']:,} groups, {seen['n_missing']:,} missing",
        f"{seen['apart']:.1e}",
        f"{MAX_DIFFERENCE:g}",
        is_met,
    )


def ours(shrink: int) -> dict[str, object]:
    """Cells, lattice and means from attribute codes."""
    import numpy as np
    import polars as pl

    from fairrec.core.audit_options import AuditOptions
    from fairrec.groups.cells import build_cells
    from fairrec.groups.lattice import build_lattice

    codes, value = _population(shrink)
    columns = [codes[name].to_numpy().astype(np.int32) for name in data.ATTRIBUTES]
    n_values = [int(column.max()) + 1 for column in columns]
    options = AuditOptions(min_support=MIN_SUPPORT)
    min_users = options.min_users(len(value))

    def work() -> Any:
        cells = build_cells(columns, n_values)
        lattice = build_lattice(cells, 3, min_users, options.n_threads)
        sums = lattice.sums(cells.sums(value)[None], options.n_threads)[0]
        return lattice, sums / lattice.n_users

    seconds = median_seconds(work, repeats=21)
    lattice, means = work()
    table = pl.DataFrame(lattice.codes, schema=list(data.ATTRIBUTES), orient="row")
    _save(table, means, lattice.n_users, "FairRec", shrink)
    return {"seconds": seconds, "n_groups": len(means)}


def divexplorer(shrink: int) -> dict[str, object]:
    """The same from a data frame of codes; it mines all depths, of which there are three."""
    import polars as pl
    from divexplorer import DivergenceExplorer

    codes, value = _population(shrink)
    frame = codes.to_pandas().assign(value=value)
    found = {}

    def work() -> None:
        found["table"] = DivergenceExplorer(frame).get_pattern_divergence(
            min_support=MIN_SUPPORT, quantitative_outcomes=["value"]
        )

    seconds = seconds_of(work)
    table = found["table"]
    table = table[table["length"] > 0]
    conditions = [dict(item.split("=") for item in itemset) for itemset in table["itemset"]]
    groups = pl.DataFrame(
        {name: [int(group.get(name, -1)) for group in conditions] for name in data.ATTRIBUTES}
    )
    _save(
        groups, table["value"].to_numpy(), table["support_count"].to_numpy(), "DivExplorer", shrink
    )
    return {"seconds": seconds, "n_groups": len(table)}


def fairlearn(shrink: int) -> dict[str, object]:
    """The same from one MetricFrame for each set of attributes; it has no least support."""
    import numpy as np
    import polars as pl
    from fairlearn.metrics import MetricFrame

    codes, value = _population(shrink)
    frame = codes.to_pandas()
    subsets = [s for size in (1, 2, 3) for s in combinations(data.ATTRIBUTES, size)]
    frames = []

    def work() -> None:
        for subset in subsets:
            frames.append(
                MetricFrame(
                    metrics=lambda y_true, y_pred: np.mean(y_pred),
                    y_true=value,
                    y_pred=value,
                    sensitive_features=frame[list(subset)],
                ).by_group
            )

    seconds = seconds_of(work)
    tables = []
    for subset, means in zip(subsets, frames, strict=True):
        present = means.dropna().rename("mean").reset_index()
        table = pl.DataFrame({name: present[name].to_numpy() for name in present.columns})
        absent = [pl.lit(-1).alias(name) for name in data.ATTRIBUTES if name not in subset]
        tables.append(
            table.with_columns(absent).select(pl.col(data.ATTRIBUTES).cast(pl.Int64), "mean")
        )
    groups = pl.concat(tables)
    _save(groups.drop("mean"), groups["mean"].to_numpy(), None, "fairlearn", shrink)
    return {"seconds": seconds, "n_groups": len(groups)}


def compare(shrink: int, name: str) -> dict[str, object]:
    """How far a peer's means are from ours, and how many of our groups it does not have."""
    import polars as pl

    our, their = (pl.read_parquet(_path(tool, shrink)) for tool in ("FairRec", name))
    both = our.join(their, on=list(data.ATTRIBUTES), how="inner", suffix="_theirs")
    apart = (both["mean"] - both["mean_theirs"]).abs().max()
    return {"apart": apart, "n_shared": len(both), "n_missing": len(our) - len(both)}


def _population(shrink: int) -> tuple[pl.DataFrame, Any]:
    """Codes of the attributes and a seeded value per user."""
    import numpy as np
    import polars as pl

    users = pl.read_parquet(data.folder(shrink) / "users.parquet")
    codes = users.select(pl.col(data.ATTRIBUTES).rank("dense").cast(pl.Int64) - 1)
    return codes, np.random.default_rng(data.SEED).random(len(users))


def _save(groups: pl.DataFrame, means: Any, support: Any, name: str, shrink: int) -> None:
    import polars as pl

    groups = groups.select(pl.all().cast(pl.Int64)).with_columns(pl.Series("mean", means))
    if support is not None:
        groups = groups.with_columns(pl.Series("support", support).cast(pl.Int64))
    groups.write_parquet(_path(name, shrink))


def _path(name: str, shrink: int) -> Path:
    return data.folder(shrink) / f"groups-{name}.parquet"
