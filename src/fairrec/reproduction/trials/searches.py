"""A search of one method on one subject: what it finds, and what it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairrec.core.progress import Progress
from fairrec.reproduction.space import MIN_SUPPORT
from fairrec.reproduction.subject import Subject
from fairrec.reproduction.trials.trial import Row, Trial
from fairrec.scoring.ledger.ledger import Ledger
from fairrec.search.evidence import Evidence
from fairrec.search.loop import BATCH_USERS, search
from fairrec.search.measure import Measure, popularity_proxy
from fairrec.search.options import Budget, paper_seconds
from fairrec.search.queries import Queries
from fairrec.search.searcher import SEARCHERS, hyper_parameters


@dataclass(frozen=True, slots=True)
class Method:
    """A way of testing.

    Parameters
    ----------
    title : in tables
    published : its name among the published numbers; "" where the paper does not have it
    users : the most users, as a share of all; None for as many as it likes
    combinations : the most combinations that each search looks at, empty ones too, as a share of
        all; None likewise
    fixed_time : each search has the fixed time of the paper and no more
    min_support : what its gap is to be compared with under chance: TestSGD leaves smaller
        groups out, and the gap between large ones is smaller by chance too
    """

    title: str
    searcher: str
    published: str = ""
    hyper: Mapping[str, float] = field(default_factory=dict)
    users: float | None = None
    combinations: float | None = None
    fixed_time: bool = False
    min_support: float = MIN_SUPPORT


def search_trial(subject: Subject, labels: Mapping[str, Any], method: Method, seed: int) -> Trial:
    """The gap a method finds in each metric, and what it took: one row for each metric.

    As in the paper each metric is searched by itself; a user whose scores one search paid for
    costs the next one nothing. Methods that enumerate find the same either way and go once.
    """

    def work(progress: Progress) -> list[Row]:
        progress("searching", 0, 0)
        return _searched(subject, method, seed)

    def about(progress: Progress) -> dict[str, Any]:
        return {
            **subject.identity(progress),
            "searcher": method.searcher,
            "hyper": dict(method.hyper),
            "users": method.users,
            "combinations": method.combinations,
            "fixed_time": method.fixed_time,
            "min_support": MIN_SUPPORT,
            "seed": seed,
        }

    return Trial(
        "search",
        f"{labels['dataset']}: {subject.model}, {method.title}, seed {seed}",
        about,
        work,
        {**labels, "method": method.title, "seed": seed},
    )


def _searched(subject: Subject, method: Method, seed: int) -> list[Row]:
    inputs = subject.inputs
    space = subject.space(MIN_SUPPORT, testsgd=method.searcher == "testsgd")
    metrics, n_users = subject.wanted, inputs.n_users
    hyper = hyper_parameters(method.searcher, method.hyper)
    most = share_of(n_users, method.users)
    most_combinations = share_of(space.n_combinations, method.combinations)
    enumerates = SEARCHERS[method.searcher].searches_all and method.searcher != "adaptive"
    limit = paper_seconds(n_users, space.n_combinations) if method.fixed_time else None
    parts = [metrics] if enumerates else [(metric,) for metric in metrics]
    started = time.perf_counter()
    uses_proxy = SEARCHERS[method.searcher].uses_proxy
    proxies = popularity_proxy(inputs, metrics, subject.threads) if uses_proxy else None
    ledger = Ledger(inputs.candidates, subject.scorer)
    rows: list[Row] = []
    for part in parts:
        if method.fixed_time:
            # each search has the whole time, so it gets nothing for free
            ledger = Ledger(inputs.candidates, subject.scorer)
        measure = Measure(
            part, inputs.candidates, inputs.side, ledger, subject.threads, inputs.list_of_user
        )
        at = len(rows)
        own = None if proxies is None else proxies[at : at + len(part)]
        queries = Queries(most_combinations)
        outcome = search(
            method.searcher,
            Evidence(space, measure, len(part), seed, own),
            hyper,
            seed=seed,
            budget=Budget(most, limit),
            batch_users=n_users if method.searcher == "exact" else BATCH_USERS,
            watch=queries.watch,
        )
        gaps = outcome.history.gaps[-1] if outcome.history.gaps else (0.0,) * len(part)
        rows += [
            {
                "metric": metric.name,
                "gap": gap,
                "users": outcome.evidence.users_scored,
                "combinations": queries.n,
                "seconds_of_search": outcome.seconds,
                "ending": outcome.ending,
            }
            for metric, gap in zip(part, gaps, strict=True)
        ]
    seconds = time.perf_counter() - started
    together = {
        "seconds": seconds,
        "users_together": None if method.fixed_time else ledger.users,
        "n_users": n_users,
        "n_combinations": space.n_combinations,
        "limit": limit,
    }
    return [{**row, **together} for row in rows]


def share_of(n: int, share: float | None) -> int | None:
    """So many of `n`, at least one; None for no limit."""
    # a share times a count may be a hair below a whole number
    return None if share is None else max(1, int(share * n + 1e-9))
