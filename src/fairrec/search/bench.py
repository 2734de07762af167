"""Searchers beside the exact answer: the exact gaps, and the share of them that searches found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.metrics.direction import badness
from fairrec.search.bench_options import SearchBenchOptions
from fairrec.search.evidence import Evidence, GapHistory, gaps_between
from fairrec.search.loop import SearchOutcome
from fairrec.search.own_work import OwnWork

WORST = (5, 10)
"""So many of the worst served groups are looked for."""
CURVE = tuple(np.geomspace(0.01, 1.0, 61).tolist())
"""Shares of the users at which curves are drawn."""


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
    worst : `searcher, metric, seed, worst, budget, share`: which share of the so many worst
        served groups was fully scored within a budget
    gaps : the exact gap of each metric
    n_users : users of eligible intersections of all attributes
    """

    options: SearchBenchOptions
    accuracy: pl.DataFrame
    convergence: pl.DataFrame
    curve: pl.DataFrame
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
        return over_seeds(self.accuracy, ["searcher", "budget"], "accuracy")

    def summary_of_worst(self) -> pl.DataFrame:
        """`searcher, worst, budget, mean, sd`, likewise for the share of the worst groups."""
        return over_seeds(self.worst, ["searcher", "worst", "budget"], "share")

    def ends(self) -> pl.DataFrame:
        """`searcher, mean, sd, users, share, ms_per_ask, ms_per_group` at convergence."""
        accuracy = over_seeds(self.convergence, ["searcher"], "accuracy")
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


def everyone_scored(space: Grouping, values: FloatArray) -> Evidence:
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
    per_group = everyone_scored(space, values).values(space.full)
    is_known = ~np.isnan(per_group)
    highest = np.where(is_known, per_group, -np.inf).max(axis=1)
    lowest = np.where(is_known, per_group, np.inf).min(axis=1)
    return gaps_between(highest, lowest)


class BenchRows:
    """The rows of the result, as they come in."""

    def __init__(
        self,
        names: Sequence[str],
        gaps: FloatArray,
        worst: Sequence[IntArray],
        n_users: int,
        budgets: Sequence[float],
    ) -> None:
        self._names, self._gaps, self._n_users = names, gaps, n_users
        self._cells_from_worst = worst
        self._worst: list[dict[str, object]] = []
        self._budgets = tuple(budgets)
        self._accuracy: list[dict[str, object]] = []
        self._curve: list[dict[str, object]] = []
        self._convergence: list[dict[str, object]] = []

    def add(
        self, name: str, seed: int, part: IntArray, outcome: SearchOutcome, own: OwnWork
    ) -> None:
        """Take in a search for these metrics."""
        at_budgets, at_curve = (
            self._at_shares(outcome.history, part, shares) for shares in (self._budgets, CURVE)
        )
        users = outcome.evidence.users_scored
        at_end = self._found(outcome.history, part, np.array([users]))
        milliseconds = 1000 * own.seconds
        for i, metric in enumerate(part.tolist()):
            about = {"searcher": name, "metric": self._names[metric], "seed": seed}
            for rows, shares, found in (
                (self._accuracy, self._budgets, at_budgets[i]),
                (self._curve, CURVE, at_curve[i]),
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
            self._worst += [{**about, **row} for row in self._worst_found(metric, outcome.history)]
            self._convergence.append(
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

    def frames(self) -> dict[str, pl.DataFrame]:
        """`accuracy`, `convergence` and `curve` of a `SearchBench`."""
        curve = over_seeds(pl.DataFrame(self._curve), ["searcher", "budget"], "accuracy")
        accuracy, convergence = pl.DataFrame(self._accuracy), pl.DataFrame(self._convergence)
        worst = pl.DataFrame(self._worst, schema_overrides={"worst": pl.Int64})
        return {
            "accuracy": accuracy,
            "convergence": convergence,
            "curve": curve,
            "worst": worst,
        }

    def _worst_found(self, metric: int, history: GapHistory) -> Iterator[dict[str, object]]:
        """The share of the worst groups within each budget, where there are more groups."""
        scored_after = dict(zip(history.cells, history.users, strict=True))
        from_worst = self._cells_from_worst[metric].tolist()
        for n in WORST:
            after = np.array([scored_after.get(cell, np.inf) for cell in from_worst[:n]])
            for budget in self._budgets if n < len(from_worst) else ():
                share = float((after <= self._users(budget)).mean())
                yield {"worst": n, "budget": budget, "share": share}

    def _users(self, share: float) -> int:
        # 0.07 * 100 is a hair above 7 in binary
        return int(share * self._n_users + 1e-9)

    def _at_shares(
        self, history: GapHistory, part: IntArray, shares: Sequence[float]
    ) -> FloatArray:
        return self._found(history, part, np.array([self._users(share) for share in shares]))

    def _found(self, history: GapHistory, part: IntArray, users: IntArray) -> FloatArray:
        """(len(part), len(users)), of the exact gap."""
        found = history.gaps_after(users) / self._gaps[part][:, None]
        # values added up in another order may be apart in the last digits
        return np.round(found, 12)


def over_seeds(rows: pl.DataFrame, by: list[str], column: str) -> pl.DataFrame:
    """Mean over metrics for each seed, then mean and standard deviation over the seeds."""
    return (
        rows.group_by(*by, "seed", maintain_order=True)
        .agg(pl.col(column).mean())
        .group_by(by, maintain_order=True)
        .agg(pl.col(column).mean().alias("mean"), pl.col(column).std().alias("sd"))
    )
