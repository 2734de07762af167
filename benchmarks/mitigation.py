"""Every re-ranker on candidate lists of the size of LFM360K's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.measure import (
    Row,
    call_in_child,
    in_gigabytes,
    in_seconds,
    median_seconds,
)

N_USERS = 267_000
N_CANDIDATES = 50
HISTORY = 45
N_CATEGORIES = 20
N_GROUPS = 30
MAX_SECONDS = 3.0
# EASE learns from the smaller catalogue, item-kNN from the larger
CATALOGUES = {"": 4_000, " (item-kNN)": 100_000}


def run(shrink: int) -> Iterator[Row]:
    """Time to learn, which happens once, and to re-rank all lists at one strength."""
    for note, n_items in CATALOGUES.items():
        names = None if not note else ["second_opinion"]
        child, answer = call_in_child(times, shrink, n_items, names)
        for name, (learning, seconds) in answer.items():
            yield Row(
                "mitigation",
                f"{name}{note}, {N_USERS // shrink:,} users x {N_CANDIDATES}",
                f"{in_seconds(seconds)} (learning from the history: {in_seconds(learning)})",
                in_seconds(MAX_SECONDS),
                seconds <= MAX_SECONDS,
            )
        yield Row("mitigation", f"peak{note}", in_gigabytes(child.peak_bytes))


def times(shrink: int, n_items: int, names: list[str] | None) -> dict[str, tuple[float, ...]]:
    """Seconds of each re-ranker: learning, and re-ranking all lists at one strength."""
    import numpy as np
    import polars as pl

    from fairrec.inputs.candidates import CandidateLists
    from fairrec.inputs.order import rows_in_order
    from fairrec.inputs.side_data import (
        Categories,
        Interactions,
        Popularity,
        SideData,
        most_popular,
    )
    from fairrec.mitigation.reranker import RERANKERS, RerankLists, TrainingSet

    rng = np.random.default_rng(0)
    n_users = N_USERS // shrink
    weights = 1 / np.arange(1, n_items + 1) ** 0.8
    drawn = rng.choice(n_items, n_users * HISTORY, p=weights / weights.sum())
    pairs = np.unique(np.repeat(np.arange(n_users), HISTORY) * n_items + drawn)
    taken = (pairs % n_items).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(pairs // n_items, minlength=n_users))])
    ids = pl.Series(np.arange(n_items))
    history = Interactions(pl.Series(np.arange(n_users)), ids, offsets, taken)

    n_categories = rng.integers(1, 5, n_items)
    bounds = np.concatenate([[0], np.cumsum(n_categories)])
    codes = np.concatenate(
        [np.sort(rng.choice(N_CATEGORIES, n, replace=False)) for n in n_categories]
    )
    categories = Categories(bounds, codes.astype(np.int32))
    n_per_item = np.bincount(taken, minlength=n_items)
    per_item = n_per_item * 100 / len(taken)
    own = np.add.reduceat(per_item[taken], offsets[:-1]) / np.diff(offsets)
    side = SideData(
        categories, Popularity(per_item, own, 100 / len(taken), most_popular(n_per_item))
    )

    n_rows = n_users * N_CANDIDATES
    group = rng.integers(0, N_GROUPS, n_users)
    training = TrainingSet(history, rest=0.0)
    items = rng.integers(0, n_items, n_rows).astype(np.int32)
    scores = rng.standard_normal(n_rows)

    bounds, ids = np.arange(n_users + 1) * N_CANDIDATES, pl.Series(np.arange(n_items))
    candidates = CandidateLists(bounds, items, scores, None, ids)

    def rescored(reranker: Any, kind: Any) -> Any:
        # sorting and scaling the lists is part of the work, so they are new each time
        lists = RerankLists(
            offsets=bounds,
            items=items,
            scores=scores,
            by_score=rows_in_order(candidates),
            side=side,
            user=np.arange(n_users),
            history_item=np.arange(n_items),
            group=group,
            k=5,
            threads=2,
        )
        return lists.scores_in(reranker.orders(lists)(0.3))

    found: dict[str, tuple[float, ...]] = {}
    for name in names or RERANKERS:
        kind = RERANKERS[name]
        started = time.perf_counter()
        reranker = kind.build(training)
        learning = time.perf_counter() - started
        found[name] = (learning, median_seconds(partial(rescored, reranker, kind), repeats=3))
    return found
