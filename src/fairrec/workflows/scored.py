"""Candidates scored by a model, all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.tables import Table
from fairrec.scoring.features import JoinedFeatures, join_features
from fairrec.scoring.ledger import Ledger
from fairrec.scoring.model import FunctionModel, Model, ScoringFunction
from fairrec.scoring.scorer import ModelScorer


def as_model(scorer: ScoringFunction | Model | None) -> Model | None:
    """A function as a model; None where the scores are in the table."""
    if scorer is None or isinstance(scorer, Model):
        return scorer
    return FunctionModel(scorer)


def features_of(
    inputs: AuditInputs, model: Model, tables: Mapping[str, Table] | None = None
) -> JoinedFeatures:
    """What a model is given of these users and items beside their ids."""
    user_ids, item_ids = inputs.ids_of_lists, inputs.candidates.item_ids
    return join_features(model.features, tables or inputs.tables, user_ids, item_ids)


def ledger_of(
    inputs: AuditInputs,
    model: Model,
    file: Path | None = None,
    identity: str = "",
    tables: Mapping[str, Table] | None = None,
    features: JoinedFeatures | None = None,
) -> Ledger:
    """A ledger of the scores of a model, which are paid for as they are needed.

    Parameters
    ----------
    tables : where features are read; None for those of the inputs
    features : what the model is given instead of what the tables hold
    """
    candidates, user_ids = inputs.candidates, inputs.ids_of_lists
    if file is not None and not identity:
        raise InputError(
            "A ledger must know whose scores it holds. Name the model, with its version: "
            f"{spelled('scorer_identity', 'ranker-2024-05-01')}"
        )
    features = features or features_of(inputs, model, tables)
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
        features.among({one.column for one in scorer.inputs}),
    )


def with_scores_of(model: Model, inputs: AuditInputs, tables: Mapping[str, Table]) -> AuditInputs:
    """The same with the scores that a model gives to all candidates."""
    model.open()
    with ledger_of(inputs, model, tables=tables) as ledger:
        return inputs.with_scores(ledger.pay_for(np.arange(inputs.candidates.n_users)))
