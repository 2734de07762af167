"""How good a trained model is: on rows kept out of training, and on the held-out targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.demo.held_out import Targets
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side import SideData
from fairrec.metrics import parse_metric
from fairrec.metrics.accuracy import pooled_auc
from fairrec.metrics.measured import values_per_list
from fairrec_paper.models.deep.base import CTRModel
from fairrec_paper.models.deep.score import score_pairs
from fairrec_paper.models.deep.training_data import TrainingData
from fairrec_paper.models.deep.training_options import TrainingOptions
from fairrec_paper.models.runs.record import RunRecord

TOP_METRICS = ("auc", "mrr@5", "ndcg@5", "hit@5")


def target_scores(model: CTRModel, targets: Targets) -> FloatArray:
    """(n_lists, n_candidates), the model's scores of the candidates."""
    n_lists, n_candidates = targets.items.shape
    scores = score_pairs(model, np.repeat(targets.users, n_candidates), targets.items.ravel())
    return scores.reshape(n_lists, n_candidates)


def target_auc(model: CTRModel, targets: Targets) -> float:
    """Mean over users of the share of other candidates below the target, ties half."""
    scores = target_scores(model, targets)
    target = scores[targets.is_target][:, None]
    below = (scores < target).sum(axis=1) + 0.5 * ((scores == target).sum(axis=1) - 1)
    return float(np.mean(below / (scores.shape[1] - 1)))


@dataclass(frozen=True, slots=True)
class Quality:
    """Log loss and AUC on the rows kept out, each with a negative."""

    loss: float
    auc: float


def holdout_quality(model: CTRModel, data: TrainingData, seed: int) -> Quality:
    """How good a model is on the rows kept out; the same seed draws the same negatives."""
    rng = np.random.default_rng([seed, 4])
    negatives = data.sampler.draw(data.holdout_users, rng)
    users = np.concatenate([data.holdout_users, data.holdout_users])
    items = np.concatenate([data.holdout_items, negatives])
    labels = np.repeat([1.0, 0.0], len(data.holdout_users))
    logits = score_pairs(model, users, items)
    loss = np.where(labels > 0, np.logaddexp(0, -logits), np.logaddexp(0, logits)).mean()
    return Quality(float(loss), pooled_auc(logits, labels))


def penalty(model: CTRModel, l2: float) -> float:
    """The L2 penalty: so much times the sum of squares of the weights that have one."""
    return l2 * sum(float(weight.detach().double().square().sum()) for weight in model.penalised())


def evaluated(
    record: RunRecord, model: CTRModel, data: TrainingData, options: TrainingOptions
) -> RunRecord:
    """The record with loss and AUC on the rows kept out, and metrics on the test targets."""
    quality = holdout_quality(model, data, options.seed_of_data)
    return record.model_copy(
        update={
            "finished": True,
            "holdout_loss": quality.loss,
            "holdout_auc": quality.auc,
            "penalty": penalty(model, options.l2),
            "test": _top_metrics(target_scores(model, data.test), data.test),
        }
    )


def _top_metrics(scores: FloatArray, targets: Targets) -> dict[str, float]:
    n_lists, n_candidates = scores.shape
    lists = CandidateLists(
        offsets=np.arange(n_lists + 1, dtype=np.int64) * n_candidates,
        items=targets.items.ravel(),
        scores=scores.ravel(),
        labels=targets.is_target.ravel().astype(np.float64),
        item_ids=pl.Series([], dtype=pl.Int64),
    )
    values = values_per_list([parse_metric(name) for name in TOP_METRICS], lists, SideData())
    return {name: float(row.mean()) for name, row in zip(TOP_METRICS, values, strict=True)}
