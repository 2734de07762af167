"""A search from inputs to outcome: the scorer, the ledger, the measure and the loop."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.measure import Measure, values_per_user
from fairrec.report.words import number
from fairrec.scoring.ledger.ledger import Ledger
from fairrec.scoring.models.features import join_features
from fairrec.scoring.models.model import FunctionModel, Model, ScoringFunction
from fairrec.scoring.scorer import ModelScorer, TableScorer
from fairrec.search.evidence import Evidence
from fairrec.search.loop import BATCH_USERS, SearchOutcome, search
from fairrec.search.options import SearchOptions
from fairrec.search.searcher import hyper_parameters
from fairrec.search.space import Space

CALLS_IN_BATCH = 4
"""With calls side by side, users are scored in batches of so many calls for each of them, so
that few wait for the last of a batch."""


@dataclass(frozen=True, slots=True)
class SearchCost:
    """What the scores of a search cost.

    Parameters
    ----------
    ledger : closed, with what was paid for
    asked : the model, as a ledger names it
    faults : what went wrong and was tried again, by kind
    """

    ledger: Ledger
    asked: str = ""
    faults: dict[str, int] = field(default_factory=dict)


def run_search(
    inputs: AuditInputs,
    space: Space,
    options: SearchOptions,
    seed: int,
    scorer: ScoringFunction | Model | None = None,
    identity: str = "",
    threads: int = 1,
    told: Progress = lambda stage, done, total: None,
) -> tuple[SearchOutcome, SearchCost]:
    """Score users as a searcher asks for them.

    Parameters
    ----------
    scorer : None where the scores are in the table
    identity : names the model, so that a ledger is never used for another
    """
    metrics = searchable(inputs)
    budget = options.budget_in(space)
    most = space.n_users if budget.users is None else budget.users
    model = as_model(scorer)
    try:
        if model is not None:
            model.open()
            identity = identity or model.identity()
        with _ledger(inputs, options, model, identity) as ledger:
            stage = f"searching with {options.name}"
            progress = _Progress(stage, most, ledger, model, told)
            measure = Measure(metrics, inputs.candidates, inputs.side, ledger, threads)
            evidence = Evidence(
                space,
                lambda users: measure(inputs.list_of_user[users]),
                len(metrics),
                seed,
                stand_in(inputs, threads),
            )
            progress.advance(0)
            outcome = search(
                options.name,
                evidence,
                hyper_parameters(options.name, options.hyper),
                seed=seed,
                budget=budget,
                n_reference=options.n_reference(space),
                batch_users=_batch_users(inputs, model),
                advance=progress.advance,
            )
        return outcome, SearchCost(ledger) if model is None else SearchCost(
            ledger, identity, model.faults()
        )
    finally:
        if model is not None:
            model.close()


def as_model(scorer: ScoringFunction | Model | None) -> Model | None:
    """A function as a model; None where the scores are in the table."""
    if scorer is None or isinstance(scorer, Model):
        return scorer
    return FunctionModel(scorer)


def _batch_users(inputs: AuditInputs, model: Model | None) -> int:
    """Users between two looks at the budget."""
    if model is None or model.concurrency == 1:
        return BATCH_USERS
    rows_per_user = max(1.0, len(inputs.candidates.items) / max(inputs.n_users, 1))
    users_per_call = max(1, int(model.rows_per_call / rows_per_user))
    return max(BATCH_USERS, CALLS_IN_BATCH * model.concurrency * users_per_call)


class _Progress:
    """Tells after each call how far the search is, how fast, and what went wrong."""

    def __init__(
        self, stage: str, most: int, ledger: Ledger, model: Model | None, told: Progress
    ) -> None:
        self._stage, self._most, self._ledger, self._model = stage, most, ledger, model
        self._told, self._started = told, time.monotonic()
        self._scored = self._paid = 0
        ledger.on_paid = self._on_paid

    def advance(self, users: int) -> None:
        """So many users are scored."""
        self._scored, self._paid = users, self._ledger.users
        self._tell(users)

    def _on_paid(self) -> None:
        self._tell(self._scored + self._ledger.users - self._paid)

    def _tell(self, users: int) -> None:
        self._told(f"{self._stage}{self._pace()}", users, self._most)

    def _pace(self) -> str:
        """In words, where a model is asked."""
        if self._model is None or not self._ledger.users:
            return ""
        rate = self._ledger.users / max(time.monotonic() - self._started, 1e-9)
        n_faults = sum(self._model.faults().values())
        faults = f", {n_faults:,} fault{'s' if n_faults != 1 else ''}" if n_faults else ""
        return f" ({number(rate)} users/s{faults})"


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
    inputs: AuditInputs, options: SearchOptions, model: Model | None, identity: str
) -> Ledger:
    candidates = inputs.candidates
    file = None if options.ledger is None else Path(options.ledger)
    user_ids = ids_of_lists(inputs)
    if model is None:
        scores = f"table {hashlib.sha256(candidates.scores.tobytes()).hexdigest()}"
        name = "" if file is None else identity or scores
        return Ledger(
            candidates, TableScorer(candidates), file=file, identity=name, user_ids=user_ids
        )
    features = join_features(model.features, inputs.tables, user_ids, candidates.item_ids)
    if file is not None and not identity:
        raise InputError(
            "A ledger must know whose scores it holds. Name the model, with its version: "
            "scorer_identity='ranker 2024-05-01'."
        )
    return Ledger(
        candidates,
        ModelScorer(model, candidates, user_ids, features),
        model.rows_per_call,
        file,
        identity,
        user_ids,
        model.concurrency,
        model.stop,
    )


def ids_of_lists(inputs: AuditInputs) -> pl.Series:
    """(n_lists,), the user of each candidate list."""
    user_of_list = np.empty(len(inputs.list_of_user), dtype=np.int64)
    user_of_list[inputs.list_of_user] = np.arange(len(inputs.list_of_user))
    return inputs.user_ids.gather(user_of_list)
