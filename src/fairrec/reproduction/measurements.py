"""The cells most experiments are made of: a training, a gap with its chance level, a search."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairrec.metrics.accuracy import pooled_auc
from fairrec.metrics.measure import Measure
from fairrec.options import Progress
from fairrec.reproduction.cells import Cell, Row
from fairrec.reproduction.subject import Subject
from fairrec.scoring.ledger import Ledger
from fairrec.search import SEARCHERS
from fairrec.search.budget import Budget, paper_seconds
from fairrec.search.evidence import Evidence
from fairrec.search.loop import BATCH_USERS, search
from fairrec.search.searcher import hyper_parameters
from fairrec.searching import stand_in
from fairrec.statistics.moments import group_moments
from fairrec.statistics.permutation import gap_p_value, observed_gaps, permutation_test
from fairrec.statistics.pooled import pooled_per_cell

MIN_SUPPORT = 0.001
POOLED = "pooled_auc"
# raise one when its work changes, so that cells kept from before are worked out again
TRAINING_CODE, CHANCE_CODE, SEARCH_CODE = 1, 1, 1


def training_cell(subject: Subject, labels: Mapping[str, Any]) -> Cell:
    """Loss and AUC of a trained model: one row."""

    def work(told: Progress) -> list[Row]:
        record = subject.trained(told)
        return [
            {
                "loss": record.holdout_loss,
                "auc": record.holdout_auc,
                "n_train": record.n_train,
                "epochs": len(record.epochs),
                "seconds": sum(epoch.seconds for epoch in record.epochs),
                **{f"test_{name}": value for name, value in record.test.items()},
            }
        ]

    def about(told: Progress) -> dict[str, Any]:
        return {"code": TRAINING_CODE, **subject.identity(told)}

    return Cell("training", f"{labels['dataset']}: training {subject.model}", about, work, labels)


def chance_cell(
    subject: Subject,
    labels: Mapping[str, Any],
    permutations: int,
    min_support: float = MIN_SUPPORT,
    by: Sequence[str] | None = None,
) -> Cell:
    """The exact gap of each metric between full combinations, and what chance shows: a row each.

    Parameters
    ----------
    by : some of the attributes; all by default
    """

    def work(told: Progress) -> list[Row]:
        inputs, space = subject.inputs, subject.space(min_support, by)
        told("testing against chance", 0, 0)
        moments = group_moments(subject.values, space.cells, space.lattice, subject.threads)
        is_tested = moments.n >= space.min_users
        gaps = observed_gaps(moments, space.lattice, is_tested)
        test = permutation_test(
            moments, space.cells, space.lattice, is_tested, permutations, 0, subject.threads
        )
        shared = {
            "n_users": inputs.n_users,
            "n_groups": len(space.full),
            "n_combinations": space.n_combinations,
            "min_users": space.min_users,
        }
        rows = []
        for i, metric in enumerate(subject.metrics):
            known = not np.isnan(gaps[i])
            by_chance = np.sort(test.gaps[:, i]) if known else np.empty(0)
            rows.append(
                {
                    **shared,
                    "metric": metric,
                    "mean": float(moments.mean[i]),
                    "gap": float(gaps[i]) if known else None,
                    "chance_mean": float(by_chance.mean()) if known else None,
                    "chance_q95": float(np.quantile(by_chance, 0.95)) if known else None,
                    "p_value": gap_p_value(by_chance, float(gaps[i])) if known else None,
                    "by_chance": [float(f"{gap:.9g}") for gap in by_chance],
                }
            )
        pooled = pooled_per_cell(
            pooled_auc,
            subject.scored,
            space.cells,
            inputs.list_of_user,
            space.cells.n_users >= space.min_users,
        )
        whole = subject.scored
        assert whole.labels is not None
        pool = (
            {
                **shared,
                "metric": POOLED,
                "mean": pooled_auc(whole.scores, whole.labels),
                "gap": float(np.nanmax(pooled) - np.nanmin(pooled)) if len(space.full) else None,
                "chance_mean": None,
                "chance_q95": None,
                "p_value": None,
                "by_chance": [],
            },
        )
        # beside the other AUC
        return [*rows[:1], *pool, *rows[1:]]

    def about(told: Progress) -> dict[str, Any]:
        return {
            "code": CHANCE_CODE,
            **subject.identity(told),
            "min_support": min_support,
            "by": None if by is None else [*by],
            "permutations": permutations,
        }

    name = f"{labels['dataset']}: {subject.model}, chance"
    return Cell("chance", name, about, work, labels)


@dataclass(frozen=True, slots=True)
class Method:
    """A way of testing.

    Parameters
    ----------
    title : in tables
    published : its name among the published numbers; "" where the paper does not have it
    users : the most users, as a share of all; None for as many as it likes
    fixed_time : each search has the fixed time of the paper and no more
    min_support : what its gap is to be compared with under chance: TestSGD leaves smaller
        groups out, and the gap between large ones is smaller by chance too
    """

    title: str
    searcher: str
    published: str = ""
    hyper: Mapping[str, float] = field(default_factory=dict)
    users: float | None = None
    fixed_time: bool = False
    min_support: float = MIN_SUPPORT


def search_cell(subject: Subject, labels: Mapping[str, Any], method: Method, seed: int) -> Cell:
    """The gap a method finds in each metric, and what it took: one row for each metric.

    As in the paper each metric is searched by itself; a user whose scores one search paid for
    costs the next one nothing. Methods that enumerate find the same either way and go once.
    """

    def work(told: Progress) -> list[Row]:
        told("searching", 0, 0)
        return _searched(subject, method, seed)

    def about(told: Progress) -> dict[str, Any]:
        return {
            "code": SEARCH_CODE,
            **subject.identity(told),
            "searcher": method.searcher,
            "hyper": dict(method.hyper),
            "users": method.users,
            "fixed_time": method.fixed_time,
            "min_support": MIN_SUPPORT,
            "seed": seed,
        }

    return Cell(
        "search",
        f"{labels['dataset']}: {subject.model}, {method.title}, seed {seed}",
        about,
        work,
        {**labels, "method": method.title, "seed": seed},
    )


def _searched(subject: Subject, method: Method, seed: int) -> list[Row]:
    inputs, space = subject.inputs, subject.space(MIN_SUPPORT)
    metrics, n_users = inputs.metrics, inputs.n_users
    hyper = hyper_parameters(method.searcher, method.hyper)
    most = None if method.users is None else max(1, int(method.users * n_users + 1e-9))
    enumerates = SEARCHERS[method.searcher].searches_all and method.searcher != "adaptive"
    limit = paper_seconds(n_users, space.n_combinations) if method.fixed_time else None
    parts = [metrics] if enumerates else [(metric,) for metric in metrics]
    started = time.perf_counter()
    is_adaptive = method.searcher == "adaptive"
    guesses = stand_in(inputs, subject.threads) if is_adaptive else None
    ledger = Ledger(inputs.candidates, subject.scorer)
    rows: list[Row] = []
    for part in parts:
        if method.fixed_time:
            # each search has the whole time, so it gets nothing for free
            ledger = Ledger(inputs.candidates, subject.scorer)
        measure = Measure(part, inputs.candidates, inputs.side, ledger, subject.threads)

        def values(users: Any, measure: Measure = measure) -> Any:
            return measure(inputs.list_of_user[users])

        at = len(rows)
        own = None if guesses is None else guesses[at : at + len(part)]
        outcome = search(
            method.searcher,
            Evidence(space, values, len(part), seed, own),
            hyper,
            seed=seed,
            budget=Budget(most, limit),
            batch_users=n_users if method.searcher == "exact" else BATCH_USERS,
        )
        gaps = outcome.history.gaps[-1] if outcome.history.gaps else (0.0,) * len(part)
        rows += [
            {
                "metric": metric.name,
                "gap": gap,
                "users": outcome.evidence.users_scored,
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
        "limit": limit,
    }
    return [{**row, **together} for row in rows]
