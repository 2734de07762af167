"""How users were chosen for scoring, and what that leaves open."""

from __future__ import annotations

import math
from dataclasses import asdict

from fairrec.metrics import MetricAtK
from fairrec.result.schema import HistoryPoint, SearchedMetric, SearchSummary
from fairrec.scoring.ledger.ledger import Ledger
from fairrec.search.history import History
from fairrec.search.loop import SearchOutcome
from fairrec.search.options import SearchOptions
from fairrec.search.searcher import Bounded, hyper_parameters


def exact_summary(n_users: int, seconds: float) -> SearchSummary:
    """Everyone was scored, at once."""
    return SearchSummary(
        name="exact", users_scored=n_users, users_total=n_users, seconds=round(seconds, 3)
    )


def search_summary(
    outcome: SearchOutcome,
    options: SearchOptions,
    metrics: tuple[MetricAtK, ...],
    ledger: Ledger,
    model_identity: str,
    faults: dict[str, int],
    seconds: float,
) -> SearchSummary:
    """What a search scored and found, what it cost, and what it may have missed.

    Parameters
    ----------
    model_identity : the model, as its ledger names it; empty where the scores are in the table
    faults : of the model, each tried again: kind -> number
    """
    evidence = outcome.evidence
    space = evidence.space
    budget = options.budget_in(space)
    bounds: list[float | None] = [None] * len(metrics)
    confidence = None
    n_verified = int(evidence.is_complete[space.cell_of_full].sum())
    if len(space.full) and n_verified == len(space.full):
        bounds = [0.0] * len(metrics)
    elif len(space.full):
        for searcher in outcome.searchers:
            if isinstance(searcher, Bounded):
                found = outcome.history.gaps[-1] if outcome.history.gaps else [0.0] * len(metrics)
                bounds = [
                    _within(metric, gap, bound)
                    for metric, gap, bound in zip(
                        metrics, found, searcher.may_be_larger_by().tolist(), strict=True
                    )
                ]
                confidence = searcher.confidence
    return SearchSummary(
        name=options.name,
        users_scored=evidence.users_scored,
        users_total=space.n_users,
        seconds=round(seconds, 3),
        ending=outcome.ending,
        budget_users=budget.users,
        budget_seconds=budget.seconds,
        hyper_parameters=asdict(hyper_parameters(options.name, options.hyper)),
        users_reference=evidence.n_reference,
        confidence=confidence,
        n_verified=n_verified,
        n_not_verified=len(space.full) - n_verified,
        model_identity=model_identity,
        users_paid=ledger.users,
        users_before=ledger.users_before,
        rows_paid=ledger.rows,
        calls=ledger.calls,
        seconds_scoring=round(ledger.seconds, 3),
        faults=faults,
        spent_in_all=None if options.ledger is None else ledger.spent,
        metrics={
            metric.name: SearchedMetric(
                may_be_larger_by=bounds[i], history=_points(outcome.history, i)
            )
            for i, metric in enumerate(metrics)
        },
    )


def _within(metric: MetricAtK, gap: float, bound: float) -> float | None:
    """No gap is larger than the range of the metric; None where there is no bound."""
    if math.isnan(bound):
        return None
    low, high = metric.metric.bounds or (-math.inf, math.inf)
    return max(min(bound, high - low - gap), 0.0)


def _points(history: History, metric: int) -> tuple[HistoryPoint, ...]:
    """The points at which the gap grew, and the last one."""
    points = [
        HistoryPoint(users=users, gap=gaps[metric])
        for users, gaps in zip(history.users, history.gaps, strict=True)
    ]
    grown = [
        point
        for before, point in zip([None, *points], points, strict=False)
        if before is None or point.gap > before.gap
    ]
    return tuple(grown if grown[-1:] == points[-1:] else [*grown, points[-1]])
