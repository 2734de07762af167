"""Scores of many pairs from a deep model, and how good they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.core.threads import map_in_threads
from fairrec.demo.held_out import Targets
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side_data import SideData
from fairrec.metrics import parse_metric
from fairrec.metrics.accuracy import pooled_auc
from fairrec.metrics.measured import values_per_list
from fairrec_paper.models.data import TrainingData
from fairrec_paper.models.networks import CTRModel
from fairrec_paper.models.options import TrainingOptions


@contextmanager
def one_thread() -> Iterator[int]:
    """Torch on one thread; yields how many it had.

    With the few rows of a step or a chunk waiting takes longer than the work, and many times as
    long where the cores have other work too.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield threads
    finally:
        torch.set_num_threads(threads)


CPU_ROWS = 1 << 13
GPU_ROWS = 1 << 22
_ALONE = Lock()


def score_pairs(
    model: CTRModel,
    users: AnyArray,
    items: AnyArray,
    advance: Callable[[int], None] = lambda done: None,
) -> FloatArray:
    """(n_pairs,), the model's logit for each pair of positions.

    Memory stays flat: chunks small enough for the cache on a CPU, large on a GPU.

    Parameters
    ----------
    advance : told how many pairs are scored
    """
    device = next(model.parameters()).device
    size = CPU_ROWS if device.type == "cpu" else GPU_ROWS
    scores = np.empty(len(users), dtype=np.float64)

    def score(start: int) -> int:
        part = slice(start, start + size)
        with torch.inference_mode():
            logits = model(
                torch.from_numpy(users[part]).to(device, torch.int64, non_blocking=True),
                torch.from_numpy(items[part]).to(device, torch.int64, non_blocking=True),
            )
            scores[part] = logits.float().cpu().numpy()
        return min(start + size, len(users))

    was_training = model.training
    model.eval()
    with _a_thread_each() as threads:
        for done in map_in_threads(score, range(0, len(users), size), threads):
            advance(done)
    model.train(was_training)
    return scores


@contextmanager
def _a_thread_each() -> Iterator[int]:
    """How many chunks to score at once, each by one thread."""
    if torch.get_num_threads() == 1:
        yield 1
        return
    # one at a time, or the first to end would set the number for the others
    with _ALONE, one_thread() as threads:
        yield threads


TOP_METRICS = ("auc", "mrr@5", "ndcg@5", "hit@5")


def target_metrics(
    model: CTRModel, targets: Targets, names: Sequence[str] = TOP_METRICS
) -> dict[str, float]:
    """Means over users of metrics of the candidates."""
    n_lists, n_candidates = targets.items.shape
    items = targets.items.ravel()
    lists = CandidateLists(
        offsets=np.arange(n_lists + 1, dtype=np.int64) * n_candidates,
        items=items,
        scores=score_pairs(model, np.repeat(targets.users, n_candidates), items),
        labels=targets.is_target.ravel().astype(np.float64),
        item_ids=pl.Series([], dtype=pl.Int64),
    )
    values = values_per_list([parse_metric(name) for name in names], lists, SideData())
    return {name: float(row.mean()) for name, row in zip(names, values, strict=True)}


class Quality(NamedTuple):
    """Log loss and AUC on the rows kept out, each with a negative."""

    loss: float
    auc: float


def holdout_quality(model: CTRModel, data: TrainingData, seed: int) -> Quality:
    """How good a model is on the rows kept out; the same seed draws the same negatives."""
    negatives = data.sampler.draw(data.holdout_users, np.random.default_rng([seed, 4]))
    users = np.concatenate([data.holdout_users, data.holdout_users])
    items = np.concatenate([data.holdout_items, negatives])
    labels = np.repeat([1.0, 0.0], len(data.holdout_users))
    logits = score_pairs(model, users, items)
    loss = binary_cross_entropy_with_logits(torch.from_numpy(logits), torch.from_numpy(labels))
    return Quality(float(loss), pooled_auc(logits, labels))


def penalty(model: CTRModel, l2: float) -> float:
    """The L2 penalty: so much times the sum of squares of the weights that have one."""
    return l2 * sum(
        float(weight.detach().double().square().sum()) for weight in model.penalised_weights()
    )


def evaluate(model: CTRModel, data: TrainingData, options: TrainingOptions) -> dict[str, Any]:
    """Loss and AUC on the rows kept out, and metrics on the test targets, as a record has them."""
    quality = holdout_quality(model, data, options.seed_of_data)
    return {
        "holdout_loss": quality.loss,
        "holdout_auc": quality.auc,
        "penalty": penalty(model, options.l2),
        "test": target_metrics(model, data.test),
    }
