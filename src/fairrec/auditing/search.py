"""A search from inputs to values: the model, the ledger, the measure and the loop."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.tables import Table
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import Measured
from fairrec.scoring.features import JoinedFeatures, join_features
from fairrec.scoring.ledger import Ledger
from fairrec.scoring.model import FunctionModel, Model, ScoringFunction
from fairrec.scoring.scorer import ModelScorer, TableScorer
from fairrec.search.evidence import Evidence, Measure, popularity_proxy
from fairrec.search.loop import BATCH_USERS, Searched, search
from fairrec.search.options import Search
from fairrec.search.searcher import SEARCHERS, hyper_parameters


def as_model(scorer: ScoringFunction | Model | None) -> Model | None:
    """A function as a model; None where the scores are in the table."""
    if scorer is None or isinstance(scorer, Model):
        return scorer
    return FunctionModel(scorer)


def read_features(
    inputs: AuditInputs, model: Model, tables: Mapping[str, Table] | None = None
) -> JoinedFeatures:
    """What a model is given of these users and items beside their ids."""
    user_ids, item_ids = inputs.ids_of_lists, inputs.candidates.item_ids
    return join_features(model.features, tables or inputs.tables, user_ids, item_ids)


def open_ledger(
    inputs: AuditInputs,
    model: Model | None,
    file: Path | None = None,
    identity: str = "",
    tables: Mapping[str, Table] | None = None,
    features: JoinedFeatures | None = None,
) -> Ledger:
    """A ledger of the scores of a model, which are paid for as they are needed.

    Parameters
    ----------
    model : None where the scores are in the table
    tables : where features are read; None for those of the inputs
    features : what the model is given instead of what the tables hold
    """
    candidates, user_ids = inputs.candidates, inputs.ids_of_lists
    if model is None:
        table = TableScorer(candidates)
        name = "" if file is None else identity or table.identity()
        return Ledger(candidates, table, file=file, identity=name, user_ids=user_ids)
    if file is not None and not identity:
        raise InputError(
            "A ledger must know whose scores it holds. Name the model, with its version: "
            f"{spell('scorer_identity', 'ranker-2024-05-01')}"
        )
    features = features or read_features(inputs, model, tables)
    scorer = ModelScorer(model, candidates, user_ids, features)
    return Ledger(
        candidates,
        scorer,
        model.rows_per_call,
        file,
        identity,
        user_ids,
        model.concurrency,
        model.stop,
        features.select({one.column for one in scorer.inputs}),
    )


def add_model_scores(model: Model, inputs: AuditInputs, tables: Mapping[str, Table]) -> AuditInputs:
    """The same with the scores that a model gives to all candidates."""
    model.open()
    with open_ledger(inputs, model, tables=tables) as ledger:
        return inputs.with_scores(ledger.pay_for(np.arange(inputs.candidates.n_users)))


CALLS_IN_BATCH = 4
"""With calls side by side, users are scored in batches of so many calls for each of them, so
that few wait for the last of a batch."""


def measure_by_search(
    inputs: AuditInputs,
    metrics: Sequence[MetricAtK],
    grouping: Grouping,
    how: Search,
    scorer: ScoringFunction | Model | None,
    options: AuditOptions,
) -> tuple[Measured, Searched]:
    """The values of the users that a searcher asks for, and how they came to be scored."""
    metrics = tuple(metrics)
    budget = how.make_budget(grouping)
    model, identity, faults = as_model(scorer), how.scorer_identity, {}
    proxy = None
    if SEARCHERS[how.name].uses_proxy:
        proxy = popularity_proxy(inputs, metrics, options.n_threads)
    try:
        if model is not None:
            model.end_at(time.monotonic() + (budget.seconds or math.inf))
            model.open()
            identity = identity or model.identity()
        file = None if how.ledger is None else Path(how.ledger)
        with open_ledger(inputs, model, file, identity) as ledger:
            most = grouping.n_users if budget.users is None else budget.users
            # users known to the search without being paid for
            free = 0

            def advance(users: int | None = None) -> None:
                nonlocal free
                free = free if users is None else users - ledger.users
                options.engine.report(f"searching with {how.name}", free + ledger.users, most)

            ledger.on_paid = advance
            measure = Measure(
                metrics,
                inputs.candidates,
                inputs.side,
                ledger,
                options.n_threads,
                inputs.list_of_user,
            )
            evidence = Evidence(grouping, measure, len(metrics), options.seed, proxy)
            advance(0)
            outcome = search(
                how.name,
                evidence,
                hyper_parameters(how.name, how.hyper),
                seed=options.seed,
                alpha=options.alpha,
                budget=budget,
                n_reference=how.n_reference(grouping),
                batch_users=_batch_users(inputs, model),
                n_calls=1 if model is None else model.concurrency,
                advance=advance,
            )
        if model is not None:
            faults = model.faults()
    finally:
        if model is not None:
            model.close()
    measured = Measured(
        metrics, evidence.values_per_user, evidence.is_scored, evidence.is_reference
    )
    _refuse_unknown(measured, has_table=model is None)
    name = "" if model is None else identity
    return measured, Searched(metrics, how, outcome, ledger, name, faults, has_table=model is None)


def _refuse_unknown(measured: Measured, *, has_table: bool) -> None:
    """An error where too few users were scored to say anything."""
    exact = f" Without {spell('search')} all users are scored." if has_table else ""
    known = measured.values
    if not measured.is_complete:
        known = known[:, measured.is_reference]
    if not known.shape[1]:
        raise InputError(
            "The time was spent before any user was scored. Raise "
            f"{spell('budget_seconds')}.{exact}"
        )
    for metric, row in zip(measured.metrics, known, strict=True):
        if np.isnan(row).all():
            raise InputError(
                f"Metric '{metric.name}' is undefined for all of {row.size:,} users that were "
                f"scored at random. Leave it out, or raise the budget or {spell('reference')}."
                f"{exact}"
            )


def _batch_users(inputs: AuditInputs, model: Model | None) -> int:
    """Users between two looks at the budget."""
    if model is None or model.concurrency == 1:
        return BATCH_USERS
    rows_per_user = max(1.0, len(inputs.candidates.items) / max(inputs.n_users, 1))
    users_per_call = max(1, int(model.rows_per_call / rows_per_user))
    return max(BATCH_USERS, CALLS_IN_BATCH * model.concurrency * users_per_call)
