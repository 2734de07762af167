"""Searchers beside the exact answer: how much of the gap each has found after how many users.

All values are computed beforehand, so that a search costs only its own work; the searchers pay
for each user all the same, and see no value they have not paid for.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec.core.progress import Progress
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.search.bench_options import SearchBenchOptions
from fairrec.search.evidence import Evidence
from fairrec.search.gap_history import GapHistory, gaps_between
from fairrec.search.loop import SearchOutcome, search
from fairrec.search.popularity_proxy import popularity_proxy
from fairrec.search.searcher import SEARCHERS, Request, Searcher
from fairrec.workflows.search import searchable

CURVE = tuple(np.geomspace(0.01, 1.0, 61).tolist())
"""The same, where curves are drawn."""


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
    curve : `searcher, budget, mean, sd` as in `summary`, for finer budgets
    gaps : the exact gap of each metric
    n_users : users of eligible intersections of all attributes
    """

    options: SearchBenchOptions
    accuracy: pl.DataFrame
    convergence: pl.DataFrame
    curve: pl.DataFrame
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
        return _over_seeds(self.accuracy, ["searcher", "budget"], "accuracy")

    def ends(self) -> pl.DataFrame:
        """`searcher, mean, sd, users, share, ms_per_ask, ms_per_group` at convergence."""
        accuracy = _over_seeds(self.convergence, ["searcher"], "accuracy")
        costs = self.convergence.group_by("searcher", maintain_order=True).agg(
            pl.col("users", "share", "ms_per_ask", "ms_per_group").mean()
        )
        return accuracy.join(costs, on="searcher", maintain_order="left")


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
    progress("measuring", 0, 0)
    threads = options.as_audit_options().n_threads
    space = _space(inputs, options)
    metrics = searchable(metrics)
    values = measure_everyone(inputs, metrics, threads).values
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
            f"Name other metrics or lower {spelled('min_support')}."
        )
    parts = [kept] if options.together else [kept[i : i + 1] for i in range(len(kept))]
    n_users = int(space.sizes.sum())
    tables = _Tables([metric.name for metric in metrics], gaps, n_users, options.budgets)
    n_searches = len(options.searchers) * options.n_seeds * len(parts)
    for done, (name, seed, part) in enumerate(_searches(options, parts)):
        progress(f"searching with {name}", done, n_searches)
        own = OwnWork()
        outcome = search(
            name,
            evidence_of(space, values[part], seed, None if proxies is None else proxies[part]),
            options.hyper_of(name),
            seed=seed,
            watch=own.watch,
        )
        tables.add(name, seed, part, outcome, own)
    return SearchBench(
        options=options,
        accuracy=pl.DataFrame(tables.accuracy),
        convergence=pl.DataFrame(tables.convergence),
        curve=_over_seeds(pl.DataFrame(tables.curve), ["searcher", "budget"], "accuracy"),
        gaps={metrics[i].name: float(gaps[i]) for i in kept},
        n_users=n_users,
        n_groups=len(space.full),
        n_combinations=space.n_combinations,
        min_users=space.min_users,
        notes=notes,
    )


def uses_proxy(searchers: Iterable[str]) -> bool:
    """Whether one of these searchers takes the popularity of items into account."""
    return any(SEARCHERS[name].uses_proxy for name in searchers)


def evidence_of(
    space: Grouping, values: FloatArray, seed: int, proxies: FloatArray | None = None
) -> Evidence:
    """Evidence that looks values up; a user is paid for when it does.

    Parameters
    ----------
    values, proxies : (n_metrics, n_users)
    """
    return Evidence(space, lambda users: values[:, users], len(values), seed, proxies)


def exact_gaps(space: Grouping, values: FloatArray) -> FloatArray:
    """(n_metrics,), the largest minus the smallest value of eligible intersections.

    0 where fewer than two have a value.
    """
    evidence = evidence_of(space, values, seed=0)
    evidence.score(np.arange(space.n_users))
    per_group = evidence.values(space.full)
    is_known = ~np.isnan(per_group)
    highest = np.where(is_known, per_group, -np.inf).max(axis=1)
    lowest = np.where(is_known, per_group, np.inf).min(axis=1)
    return gaps_between(highest, lowest)


class OwnWork:
    """A stop-watch on searchers: the time they take themselves, and what they propose."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.n_asked = 0
        self.groups: set[int] = set()

    def watch(self, searcher: Searcher) -> Searcher:
        """The same searcher, watched."""
        return _Watched(searcher, self)


class _Watched:
    def __init__(self, searcher: Searcher, work: OwnWork) -> None:
        self._searcher, self._work = searcher, work

    def ask(self) -> Request:
        started = time.perf_counter()
        request = self._searcher.ask()
        self._work.seconds += time.perf_counter() - started
        self._work.n_asked += len(request.groups)
        self._work.groups.update(request.groups.tolist())
        return request

    def tell(self, request: Request, evidence: Evidence) -> None:
        started = time.perf_counter()
        self._searcher.tell(request, evidence)
        self._work.seconds += time.perf_counter() - started


class _Tables:
    """The rows of the result, as they come in."""

    def __init__(
        self, names: Sequence[str], gaps: FloatArray, n_users: int, budgets: Sequence[float]
    ) -> None:
        self._names, self._gaps, self._n_users = names, gaps, n_users
        self._budgets = tuple(budgets)
        self.accuracy: list[dict[str, object]] = []
        self.curve: list[dict[str, object]] = []
        self.convergence: list[dict[str, object]] = []

    def add(
        self, name: str, seed: int, part: IntArray, outcome: SearchOutcome, own: OwnWork
    ) -> None:
        """Take in a search for these metrics."""
        at_budgets, at_curve = (
            self._accuracy(outcome.history, part, shares) for shares in (self._budgets, CURVE)
        )
        users = outcome.evidence.users_scored
        at_end = self._found(outcome.history, part, np.array([users]))
        milliseconds = 1000 * own.seconds
        for i, metric in enumerate(part.tolist()):
            about = {"searcher": name, "metric": self._names[metric], "seed": seed}
            for rows, shares, found in (
                (self.accuracy, self._budgets, at_budgets[i]),
                (self.curve, CURVE, at_curve[i]),
            ):
                rows += [
                    {
                        **about,
                        "budget": share,
                        "users": self._users(share),
                        "accuracy": accuracy,
                    }
                    for share, accuracy in zip(shares, found.tolist(), strict=True)
                ]
            self.convergence.append(
                {
                    **about,
                    "accuracy": float(at_end[i, 0]),
                    "users": users,
                    "share": users / self._n_users,
                    "asks": own.n_asked,
                    "groups": len(own.groups),
                    "ms_per_ask": milliseconds / max(own.n_asked, 1),
                    "ms_per_group": milliseconds / max(len(own.groups), 1),
                }
            )

    def _users(self, share: float) -> int:
        # 0.07 * 100 is a hair above 7 in binary
        return int(share * self._n_users + 1e-9)

    def _accuracy(self, history: GapHistory, part: IntArray, shares: Sequence[float]) -> FloatArray:
        return self._found(history, part, np.array([self._users(share) for share in shares]))

    def _found(self, history: GapHistory, part: IntArray, users: IntArray) -> FloatArray:
        """(len(part), len(users)), of the exact gap."""
        found = history.gaps_after(users) / self._gaps[part][:, None]
        # values added up in another order may be apart in the last digits
        return np.round(found, 12)


def _searches(
    options: SearchBenchOptions, parts: Sequence[IntArray]
) -> Iterator[tuple[str, int, IntArray]]:
    for name in options.searchers:
        for seed in range(options.seed, options.seed + options.n_seeds):
            for part in parts:
                yield name, seed, part


def _space(inputs: AuditInputs, options: SearchBenchOptions) -> Grouping:
    audit = options.as_audit_options()
    space = Grouping.of(inputs.attributes, audit)
    if len(space.full) < 2:
        which = "Only one" if len(space.full) else "No"
        raise InputError(
            f"{which} intersection of all attributes has {space.min_users:,} users "
            f"({spelled('min_support')} {options.min_support:g}, {inputs.n_users:,} users in all), "
            f"and a gap is between two. Lower {spelled('min_support')} or name fewer attributes in "
            f"{spelled('by')}."
        )
    return space


def _over_seeds(rows: pl.DataFrame, by: list[str], column: str) -> pl.DataFrame:
    """Mean over metrics for each seed, then mean and standard deviation over the seeds."""
    return (
        rows.group_by(*by, "seed", maintain_order=True)
        .agg(pl.col(column).mean())
        .group_by(by, maintain_order=True)
        .agg(pl.col(column).mean().alias("mean"), pl.col(column).std().alias("sd"))
    )
