"""How users were chosen for scoring, and what that leaves open."""

from __future__ import annotations

from dataclasses import asdict

from fairrec.result.search_schema import HistoryPoint, SearchedMetric, SearchSummary, Spent
from fairrec.search.evidence import GapHistory
from fairrec.search.searched import Searched
from fairrec.search.searcher import hyper_parameters


def search_summary(searched: Searched | None, n_users: int) -> SearchSummary:
    """What was scored, what it cost, and what may have been missed.

    Parameters
    ----------
    searched : None where all scores were at hand
    """
    if searched is None:
        return SearchSummary(name="exact", users_scored=n_users, users_total=n_users)
    outcome, options, ledger = searched.outcome, searched.options, searched.ledger
    evidence = outcome.evidence
    space = evidence.space
    budget = options.budget_in(space)
    bounds, confidence = searched.may_be_larger_by()
    return SearchSummary(
        name=options.name,
        users_scored=evidence.users_scored,
        users_total=space.n_users,
        ending=outcome.ending,
        budget_users=budget.users,
        budget_seconds=budget.seconds,
        hyper_parameters=asdict(hyper_parameters(options.name, options.hyper)),
        users_reference=evidence.n_reference,
        confidence=confidence,
        n_fully_scored=searched.n_fully_scored,
        n_not_fully_scored=searched.n_full - searched.n_fully_scored,
        model_identity=searched.model_identity,
        users_paid=ledger.users,
        users_before=ledger.users_before,
        rows_paid=ledger.rows,
        calls=ledger.calls,
        faults=searched.faults,
        has_table=searched.has_table,
        spent_in_all=None
        if options.ledger is None
        else Spent(users=ledger.spent.users, rows=ledger.spent.rows, calls=ledger.spent.calls),
        metrics={
            metric.name: SearchedMetric(
                may_be_larger_by=bounds[i], history=_points(outcome.history, i)
            )
            for i, metric in enumerate(searched.metrics)
        },
    )


def _points(history: GapHistory, metric: int) -> tuple[HistoryPoint, ...]:
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
