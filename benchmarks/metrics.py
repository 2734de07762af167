"""NDCG@5, MRR@5 and AUC per user from arrays, against the first two alone by ranx."""

from __future__ import annotations

from collections.abc import Iterator

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

MIN_RATIO = 20
MAX_DIFFERENCE = 1e-12
LIMIT_SECONDS = 900


def run(shrink: int) -> Iterator[Row]:
    """Times of both, their ratio and how far apart their means are."""
    our_child, our = call_in_child(ours, shrink)
    yield Row("metrics", "FairRec: ndcg@5, mrr@5, auc", in_seconds(our["seconds"]))
    yield Row("metrics", "FairRec: peak with the table", in_gigabytes(our_child.peak_bytes))
    their_child, their = call_in_child(ranx, shrink, limit_seconds=LIMIT_SECONDS)
    if their is None:
        yield Row("metrics", "ranx, building included", in_seconds(None, LIMIT_SECONDS))
        return
    yield Row("metrics", "ranx evaluate: ndcg@5, mrr@5", in_seconds(their["seconds"]))
    yield Row("metrics", "ranx evaluate, scores saved in the run", in_seconds(their["saving"]))
    yield Row("metrics", "ranx kernels alone, lists converted", in_seconds(their["kernels"]))
    yield Row("metrics", "ranx: building Qrels and Run", in_seconds(their["building"]))
    yield Row("metrics", "ranx: peak with building", in_gigabytes(their_child.peak_bytes))
    _, again = call_in_child(ours, shrink)
    our = slower(our, again)
    ratio = their["seconds"] / our["seconds"]
    yield Row(
        "metrics", "ranx evaluate / FairRec", f"{ratio:.1f} x", f"{MIN_RATIO} x", ratio >= MIN_RATIO
    )
    apart = max(abs(their["means"][name] - our["means"][name]) for name in their["means"])
    yield Row(
        "metrics",
        "largest difference of means",
        f"{apart:.1e}",
        f"{MAX_DIFFERENCE:g}",
        apart <= MAX_DIFFERENCE,
    )


def ours(shrink: int) -> dict[str, object]:
    """Time and means of three metrics, from arrays to one value per user."""
    import numpy as np
    import polars as pl

    from fairrec.core.threads import available_threads
    from fairrec.inputs.candidates import CandidateLists
    from fairrec.inputs.side_data import SideData
    from fairrec.metrics import parse_metric
    from fairrec.metrics.ranked import RankedLists

    table = pl.read_parquet(data.folder(shrink) / "rows.parquet")
    candidates = CandidateLists(
        offsets=np.arange(0, len(table) + 1, data.N_CANDIDATES),
        items=table["item_id"].to_numpy().astype(np.int32),
        scores=table["score"].to_numpy(),
        labels=table["label"].to_numpy().astype(np.float64),
        item_ids=pl.Series(np.arange(data.N_ITEMS)),
    )
    metrics = [parse_metric(name) for name in ("ndcg@5", "mrr@5", "auc")]

    def work() -> list[np.ndarray]:
        lists = RankedLists(candidates, 5, SideData(), available_threads())
        return [metric.checked(metric.compute(lists), lists.n_users) for metric in metrics]

    seconds = median_seconds(work)
    means = {
        metric.name: float(values.mean())
        for metric, values in zip(metrics, work(), strict=True)
        if metric.name != "auc"
    }
    return {"seconds": seconds, "means": means}


def ranx(shrink: int) -> dict[str, object]:
    """Time and means of two metrics, with Qrels and Run built beforehand."""
    import polars as pl
    from ranx import Qrels, Run, evaluate

    table = pl.read_parquet(data.folder(shrink) / "rows.parquet").select(
        pl.col("user_id", "item_id").cast(pl.String), "score", "label"
    )
    names = ["ndcg@5", "mrr@5"]
    built = {}

    def build() -> None:
        run, relevant = {}, {}
        for user, items, scores, labels in (
            table.group_by("user_id", maintain_order=True).all().iter_rows()
        ):
            run[user] = dict(zip(items, scores, strict=True))
            relevant[user] = {items[labels.index(1)]: 1}
        built["qrels"], built["run"] = Qrels(relevant), Run(run)

    building = seconds_of(build)
    qrels, run = built["qrels"], built["run"]
    # saving each user's score in the run is work beyond what is compared
    seconds = median_seconds(
        lambda: evaluate(qrels, run, names, save_results_in_run=False), repeats=3
    )
    means = evaluate(qrels, run, names, save_results_in_run=False)
    saving = median_seconds(lambda: evaluate(qrels, run, names), repeats=3)
    # the two conversions are made for every call; without them, what its kernels can do
    lists = qrels.to_typed_list(), run.to_typed_list()
    kernels = median_seconds(lambda: evaluate(*lists, names), repeats=3)
    means = {name: float(value) for name, value in means.items()}
    return {
        "seconds": seconds,
        "saving": saving,
        "kernels": kernels,
        "building": building,
        "means": means,
    }
