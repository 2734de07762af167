"""Searchers beside the exact answer: how much of the gap each has found after how many users.

All values are computed beforehand, so that a search costs only its own work; the searchers pay
for each user all the same, and see no value they have not paid for.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.audit_options import smallest_group, take_smaller_groups
from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.groups.grouping import EVERYONE, Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import badness
from fairrec.metrics.measured import measure_everyone
from fairrec.search.evidence import Evidence, gaps_between, popularity_proxy
from fairrec.search.loop import SearchOutcome, search
from fairrec.search.searcher import Request, Searcher, uses_proxy
from fairrec_paper.reproduction.options import SearchBenchOptions


class OwnWork:
    """What searchers do: the time they take themselves, and what they propose.

    Attributes
    ----------
    n_queried : combinations looked at, empty ones too, each once: what a search pays that knows
        no sizes
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.n_asked = self.n_queried = 0
        self.groups: set[int] = set()

    def watch(self, searcher: Searcher) -> Searcher:
        """The same searcher, watched."""
        self._searcher = searcher
        return self

    def ask(self) -> Request:
        """What the searcher asks for."""
        started = time.perf_counter()
        request = self._searcher.ask()
        self.seconds += time.perf_counter() - started
        asked = {*request.groups.tolist()}
        new = len(asked - self.groups - {EVERYONE})
        self.n_queried += new if request.n_queried is None else sum(request.n_queried)
        self.n_asked += len(request.groups)
        self.groups |= asked
        return request

    def tell(self, request: Request, evidence: Evidence) -> None:
        """Pass on what was found."""
        started = time.perf_counter()
        self._searcher.tell(request, evidence)
        self.seconds += time.perf_counter() - started

    def as_dict(self) -> dict[str, float]:
        """The columns of the convergence table."""
        milliseconds, n_groups = 1000 * self.seconds, len(self.groups)
        return {
            "asks": self.n_asked,
            "groups": n_groups,
            "ms_per_ask": milliseconds / max(self.n_asked, 1),
            "ms_per_group": milliseconds / max(n_groups, 1),
        }


WORST = (5, 10)
"""So many of the worst served groups are looked for."""


@dataclass(frozen=True, slots=True)
class SearchBench:
    """How the searchers did.

    An accuracy is the gap found as a share of the exact one.

    Parameters
    ----------
    accuracy : `searcher, metric, seed, budget, users, accuracy`, one row for each of the first
        four; `users` is the budget in users
    convergence : `searcher, metric, seed, accuracy, users, share, asks, groups, ms_per_ask,
        ms_per_group`, searches without a budget at their end. `share` of the users of eligible
        intersections, above 1 where others were scored too. `asks` counts the groups
        proposed, one that is proposed again too; `groups` counts each once. The searcher's own
        work, which is all the time in its `ask` and `tell`, is divided by either.
    worst : `searcher, metric, seed, worst, budget, share`: which share of the so many worst
        served groups was fully scored within a budget
    gaps : the exact gap of each metric
    n_users : users of eligible intersections of all attributes
    """

    options: SearchBenchOptions
    accuracy: pl.DataFrame
    convergence: pl.DataFrame
    worst: pl.DataFrame
    gaps: dict[str, float]
    n_users: int
    n_groups: int
    n_combinations: int
    min_users: int
    notes: tuple[str, ...]

    def summary(self) -> pl.DataFrame:
        """`searcher, budget, mean, sd`: over the seeds, of the mean accuracy over metrics.

        The standard deviation of a single seed is null.
        """
        return aggregate_seeds(self.accuracy, ["searcher", "budget"], "accuracy")

    def summary_of_worst(self) -> pl.DataFrame:
        """`searcher, worst, budget, mean, sd`, likewise for the share of the worst groups."""
        return aggregate_seeds(self.worst, ["searcher", "worst", "budget"], "share")

    def ends(self) -> pl.DataFrame:
        """`searcher, mean, sd, users, share, ms_per_ask, ms_per_group` at convergence."""
        accuracy = aggregate_seeds(self.convergence, ["searcher"], "accuracy")
        costs = self.convergence.group_by("searcher", maintain_order=True).agg(
            pl.col("users", "share", "ms_per_ask", "ms_per_group").mean()
        )
        return accuracy.join(costs, on="searcher", maintain_order="left")


def evidence_of(
    space: Grouping, values: FloatArray, seed: int, proxies: FloatArray | None = None
) -> Evidence:
    """Evidence that looks values up; a user is paid for when it does.

    Parameters
    ----------
    values, proxies : (n_metrics, n_users)
    """
    return Evidence(space, lambda users: values[:, users], len(values), seed, proxies)


def score_everyone(space: Grouping, values: FloatArray) -> Evidence:
    """Evidence that knows the value of every user."""
    evidence = evidence_of(space, values, seed=0)
    evidence.score(np.arange(space.n_users))
    return evidence


def worst_cells(evidence: Evidence, higher_is_better: Sequence[bool | None]) -> list[IntArray]:
    """For each metric the cells of fully scored intersections from the worst served one on.

    Those without a value are not among them; where neither end is better, the lowest is first.
    """
    space, found = evidence.space, []
    for row, higher in zip(evidence.values(space.full), higher_is_better, strict=True):
        order = np.argsort(-badness(row, higher), kind="stable")
        found.append(space.cell_of_full[order[~np.isnan(row[order])]])
    return found


def exact_gaps(space: Grouping, values: FloatArray) -> FloatArray:
    """(n_metrics,), the largest minus the smallest value of eligible intersections.

    0 where fewer than two have a value.
    """
    per_group = score_everyone(space, values).values(space.full)
    is_known = ~np.isnan(per_group)
    highest = np.max(per_group, axis=1, initial=-np.inf, where=is_known)
    lowest = np.min(per_group, axis=1, initial=np.inf, where=is_known)
    return gaps_between(highest, lowest)


def tabulate_search(
    outcome: SearchOutcome,
    gap: float,
    from_worst: IntArray,
    budgets: Sequence[float],
    n_users: int,
) -> dict[str, list[dict[str, object]]]:
    """What a search for the gap of a metric found, as rows of the tables of a `SearchBench`.

    Parameters
    ----------
    gap : the exact one
    from_worst : cells of the groups, the worst served first
    """
    history, users = outcome.history, outcome.evidence.users_scored
    # 0.07 * 100 is a hair above 7 in binary
    most = [int(share * n_users + 1e-9) for share in budgets]
    # nothing is found before the first entry
    gaps = np.array([0.0, *(one.gaps[0] for one in history)])
    at = np.searchsorted([one.users for one in history], [*most, users], side="right")
    found = gaps[at] / gap
    # values added up in another order may be apart in the last digits
    *accuracy, at_end = np.round(found, 12).tolist()
    scored_after = {one.cell: one.users for one in history}
    after = np.array([scored_after.get(cell, np.inf) for cell in from_worst.tolist()])
    return {
        "accuracy": [
            {"budget": share, "users": within, "accuracy": one}
            for share, within, one in zip(budgets, most, accuracy, strict=True)
        ],
        "worst": [
            {"worst": n, "budget": share, "share": float((after[:n] <= within).mean())}
            for n in WORST
            if n < len(after)
            for share, within in zip(budgets, most, strict=True)
        ],
        "convergence": [{"accuracy": at_end, "users": users, "share": users / n_users}],
    }


def aggregate_seeds(rows: pl.DataFrame, by: list[str], column: str) -> pl.DataFrame:
    """Mean over metrics for each seed, then mean and standard deviation over the seeds."""
    return (
        rows.group_by(*by, "seed", maintain_order=True)
        .agg(pl.col(column).mean())
        .group_by(by, maintain_order=True)
        .agg(pl.col(column).mean().alias("mean"), pl.col(column).std().alias("sd"))
    )


def bench_searchers(
    inputs: AuditInputs,
    metrics: Sequence[MetricAtK],
    options: SearchBenchOptions,
    progress: Progress | None = None,
) -> SearchBench:
    """Run every searcher with every seed, and compare with the exact answer.

    Parameters
    ----------
    inputs : with scores in the table
    """
    progress = progress or (lambda stage, done, total: None)
    audit = options.as_audit_options()
    threads, space = audit.n_threads, Grouping.of(inputs.attributes, audit)
    if len(space.full) < 2:
        which = "Only one" if len(space.full) else "No"
        raise InputError(
            f"{which} intersection of all attributes has {space.min_users:,} users (smallest "
            f"group: {smallest_group(options.min_support)}; {inputs.n_users:,} users in all), "
            f"and a gap is between two. {take_smaller_groups()}, or name fewer attributes in "
            f"{spell('by')}."
        )
    metrics = tuple(metrics)
    values = measure_everyone(inputs, metrics, threads, progress).values
    proxies = popularity_proxy(inputs, metrics, threads) if uses_proxy(options.searchers) else None
    gaps = exact_gaps(space, values)
    notes = tuple(
        f"{metric.name} is left out: no two groups differ in it, so there is no gap to find."
        for metric, gap in zip(metrics, gaps, strict=True)
        if gap == 0
    )
    kept = np.flatnonzero(gaps > 0)
    if not len(kept):
        raise InputError(
            "No metric has a gap between eligible groups, so there is nothing to search for. "
            f"Name other metrics or lower {spell('min_support')}."
        )
    n_users = int(space.sizes.sum())
    directions = [metric.metric.higher_is_better for metric in metrics]
    worst = worst_cells(score_everyone(space, values), directions)
    rows: dict[str, list[dict[str, object]]] = {}
    searches = [
        (name, seed, i)
        for name in options.searchers
        for seed in range(options.seed, options.seed + options.n_seeds)
        for i in kept.tolist()
    ]
    for done, (name, seed, i) in enumerate(searches):
        progress(f"benchmarking {name}", done, len(searches))
        own = OwnWork()
        outcome = search(
            name,
            evidence_of(space, values[[i]], seed, None if proxies is None else proxies[[i]]),
            options.searcher_parameters(name),
            seed=seed,
            watch=own.watch,
        )
        tables = tabulate_search(outcome, gaps[i], worst[i], options.budgets, n_users)
        tables["convergence"][0] |= own.as_dict()
        about = {"searcher": name, "metric": metrics[i].name, "seed": seed}
        for table, found in tables.items():
            rows.setdefault(table, []).extend({**about, **row} for row in found)
    frames = {table: pl.DataFrame(found) for table, found in rows.items()}
    return SearchBench(
        options=options,
        **frames,
        gaps={metrics[i].name: float(gaps[i]) for i in kept},
        n_users=n_users,
        n_groups=len(space.full),
        n_combinations=space.n_combinations,
        min_users=space.min_users,
        notes=notes,
    )
