"""A search from inputs to outcome: the scorer, the ledger, the measure and the loop."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairrec.arrays import FloatArray
from fairrec.errors import InputError
from fairrec.metrics import MetricAtK
from fairrec.metrics.measure import Measure, values_per_user
from fairrec.options import Progress
from fairrec.reading import AuditInputs
from fairrec.scoring.ledger import Ledger
from fairrec.scoring.scorer import CallableScorer, Scorer, ScoringFunction, TableScorer
from fairrec.search.evidence import Evidence
from fairrec.search.loop import SearchOutcome, search
from fairrec.search.options import SearchOptions
from fairrec.search.searcher import hyper_parameters
from fairrec.search.space import Space


def run_search(
    inputs: AuditInputs,
    space: Space,
    options: SearchOptions,
    seed: int,
    scorer: ScoringFunction | None = None,
    identity: str = "",
    threads: int = 1,
    told: Progress = lambda stage, done, total: None,
) -> tuple[SearchOutcome, Ledger]:
    """Score users as a searcher asks for them.

    Parameters
    ----------
    scorer : None where the scores are in the table
    identity : names the model, so that a ledger is never used for another

    Returns
    -------
    what the search came to, and the ledger, closed, with what it cost
    """
    metrics = searchable(inputs)
    budget = options.budget_in(space)
    most = space.n_users if budget.users is None else budget.users

    def advance(users: int) -> None:
        told(f"searching with {options.name}", users, most)

    with _ledger(inputs, options, scorer, identity) as ledger:
        measure = Measure(metrics, inputs.candidates, inputs.side, ledger, threads)
        evidence = Evidence(
            space,
            lambda users: measure(inputs.list_of_user[users]),
            len(metrics),
            seed,
            stand_in(inputs, threads),
        )
        advance(0)
        outcome = search(
            options.name,
            evidence,
            hyper_parameters(options.name, options.hyper),
            seed=seed,
            budget=budget,
            n_reference=options.n_reference(space),
            advance=advance,
        )
    return outcome, ledger


def searchable(inputs: AuditInputs) -> tuple[MetricAtK, ...]:
    """The metrics, all of which must be means over users."""
    for metric in inputs.metrics:
        if metric.metric.pooled:
            raise InputError(
                f"Metric '{metric.name}' is no mean over users, so a search cannot look for it. "
                "Leave it out, or audit a table of scores without a search."
            )
    return inputs.per_user_metrics


def stand_in(inputs: AuditInputs, threads: int = 1) -> FloatArray | None:
    """(n_metrics, n_users), what the metrics would be if items were ranked by popularity.

    That costs nothing, and foretells part of what the recommender will do: who likes what is
    popular is easily served by both. None where there is no history to count in.
    """
    popularity = inputs.side.popularity
    if popularity is None:
        return None
    candidates = replace(inputs.candidates, scores=popularity.per_item[inputs.candidates.items])
    values = values_per_user(inputs.per_user_metrics, candidates, inputs.side, threads)
    return values[:, inputs.list_of_user]


def _ledger(
    inputs: AuditInputs, options: SearchOptions, function: ScoringFunction | None, identity: str
) -> Ledger:
    candidates = inputs.candidates
    user_of_list = np.empty(len(inputs.list_of_user), dtype=np.int64)
    user_of_list[inputs.list_of_user] = np.arange(len(inputs.list_of_user))
    user_ids = inputs.user_ids.gather(user_of_list)
    scorer: Scorer = TableScorer(candidates)
    if function is not None:
        scorer = CallableScorer(function, candidates, user_ids)
    if options.ledger is not None and not identity:
        if function is not None:
            raise InputError(
                "A ledger must know whose scores it holds. Name the model, with its version: "
                "scorer_identity='ranker 2024-05-01'."
            )
        identity = f"table {hashlib.sha256(candidates.scores.tobytes()).hexdigest()}"
    return Ledger(
        candidates,
        scorer,
        file=None if options.ledger is None else Path(options.ledger),
        identity=identity,
        user_ids=user_ids,
    )
