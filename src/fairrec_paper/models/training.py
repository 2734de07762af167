"""Training a deep model on a bundle, with early stopping, and how good it is."""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fairrec.core.atomic_io import atomic_folder, check_writable, put_table, refuse_foreign
from fairrec.core.errors import InputError
from fairrec.core.files import is_json_with
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.core.version import __version__
from fairrec.demo.held_out import Targets, texts_once
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side_data import SideData
from fairrec.metrics import parse_metric
from fairrec.metrics.accuracy import pooled_auc
from fairrec.metrics.measured import values_per_list
from fairrec_paper.datasets.bundle import Bundle
from fairrec_paper.models.data import TrainingData, training_data
from fairrec_paper.models.networks import CTRModel, one_thread, score_pairs
from fairrec_paper.models.options import TrainingOptions
from fairrec_paper.models.run import build_model, save_run
from fairrec_paper.models.runs import (
    RUN,
    WEIGHTS,
    EpochRecord,
    RunRecord,
    first_difference,
    load_run_record,
)

_TABLES = tuple(f"{name}.parquet" for name in ("users", "items", "history", "validation", "test"))

PROGRESS_STEPS = 20
"""Steps after which the loss is shown: to read it, a GPU must have finished."""
HISTORY_ROWS = 1 << 22
"""Rows of the history that share the texts of their items, which are read once for all of them."""


def train(
    bundle: Bundle,
    model_name: str,
    folder: Path,
    hyper: dict[str, Any] | None = None,
    options: TrainingOptions | None = None,
    restart: bool = False,
    progress: Progress | None = None,
) -> RunRecord:
    """Train a model and write the run; the weights of the best epoch are kept.

    A run of the same settings in the folder is not trained again; any run that is there stays
    whole until the new one is.

    Parameters
    ----------
    restart : replace the run that the folder holds, whatever its settings
    """
    options = options or TrainingOptions()
    progress = progress or (lambda stage, done, total: None)
    check_writable(folder)
    if not is_json_with(folder / RUN, "hyper_parameters"):
        # such as an audit's
        refuse_foreign(folder, (*_TABLES, WEIGHTS, RUN), "trained run")
    progress("preparing", 0, 0)
    data = training_data(
        bundle,
        options.all_positive,
        options.holdout,
        options.candidates,
        options.seed_of_data,
        options.features,
    )
    torch.manual_seed(options.seed)
    model = build_model(model_name, hyper or {}, data.features).to(options.torch_device)
    settings: dict[str, Any] = {
        "dataset": bundle.manifest.name,
        "model": model.name,
        "hyper_parameters": dataclasses.asdict(model.hyper),
        "options": dataclasses.asdict(options),
        "bundle_sha256": bundle.manifest.sha256,
    }
    if (folder / RUN).exists() and not restart:
        record = load_run_record(folder)
        difference = first_difference(settings, record.model_dump())
        if difference:
            raise InputError(
                f"{folder}: holds a run with another {difference}. Choose another folder, or "
                f"replace it with {spell('restart', True)}."
            )
        return record
    epochs = _fit(model, data, options, progress)
    progress("evaluating", 0, 0)
    record = RunRecord(
        fairrec_version=__version__,
        **settings,
        attributes=bundle.manifest.attributes,
        has_categories=bundle.has_categories,
        n_train=len(data.users),
        n_too_short=data.history["user_id"].n_unique() - len(data.test.users),
        epochs=tuple(epochs),
        best_epoch=_best(epochs).epoch,
        **evaluate(model, data, options),
    )
    with atomic_folder(folder, owned=(RUN,)) as part:
        write_tables(bundle, data, part)
        save_run(record, model, part)
    return record


def _fit(
    model: CTRModel, data: TrainingData, options: TrainingOptions, progress: Progress
) -> list[EpochRecord]:
    """Train until no epoch is better for a while; the model is left with the best weights."""
    # all weights in one call: with small steps the calls take as long as the arithmetic
    optimizer = torch.optim.Adam(
        _parameter_groups(model, options), lr=options.learning_rate, fused=True
    )
    epochs: list[EpochRecord] = []
    weights: dict[str, Tensor] = {}
    while len(epochs) < options.epochs:
        epochs.append(_train_epoch(model, optimizer, data, options, epochs, progress))
        best = _best(epochs).epoch
        if best == len(epochs):
            weights = copy.deepcopy(model.state_dict())
        elif len(epochs) - best >= options.patience:
            break
    model.load_state_dict(weights)
    return epochs


def _parameter_groups(model: CTRModel, options: TrainingOptions) -> list[dict[str, Any]]:
    """The weights, those with a penalty apart."""
    if not options.l2:
        return [{"params": [*model.parameters()]}]
    penalised = model.penalised_weights()
    theirs = {id(weight) for weight in penalised}
    others = [weight for weight in model.parameters() if id(weight) not in theirs]
    # the slope of a penalty of l2 times the square
    return [{"params": penalised, "weight_decay": 2 * options.l2}, {"params": others}]


def _train_epoch(
    model: CTRModel,
    optimizer: torch.optim.Optimizer,
    data: TrainingData,
    options: TrainingOptions,
    before: list[EpochRecord],
    progress: Progress,
) -> EpochRecord:
    """One pass over the positives, each with a negative."""
    started = time.perf_counter()
    number = len(before) + 1
    # numbers of an epoch depend on the seed and the epoch alone
    rng = np.random.default_rng([options.seed, number, 3])
    torch.manual_seed(options.seed * 1_000_003 + number)
    # none in the first epoch, and where there are no targets to validate by
    last = before[-1].validation_auc if before else math.nan
    suffix = "" if math.isnan(last) else f", last AUC {last:.4f}"
    model.train()
    total = torch.zeros((), device=options.torch_device)
    n_rows = 2 * len(data.users)
    n_batches = -(-n_rows // options.batch_size)
    with one_thread():
        for done, (users, items, labels) in enumerate(_batches(data, rng, options), 1):
            optimizer.zero_grad(set_to_none=True)
            loss = binary_cross_entropy_with_logits(model(users, items), labels)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += loss.detach() * len(users)
            if done % PROGRESS_STEPS == 0 or done == n_batches:
                mean = float(total) / min(n_rows, done * options.batch_size)
                progress(f"epoch {number}: loss {mean:.4f}{suffix}", done, n_batches)
    if not torch.isfinite(total):
        raise InputError(
            f"The loss is no longer finite. Lower {spell('learning_rate')} and begin anew."
        )
    holdout_loss = None
    if options.best_by == "holdout-loss":
        holdout_loss = holdout_quality(model, data, options.seed_of_data).loss
        holdout_loss += penalty(model, options.l2)
    return EpochRecord(
        epoch=number,
        loss=float(total) / n_rows,
        validation_auc=target_metrics(model, data.validation, ("auc",))["auc"],
        seconds=time.perf_counter() - started,
        holdout_loss=holdout_loss,
    )


def _best(epochs: list[EpochRecord]) -> EpochRecord:
    """The epoch with the least loss on the rows kept out, or else the best validation AUC."""
    return max(
        epochs,
        key=lambda one: one.validation_auc if one.holdout_loss is None else -one.holdout_loss,
    )


def _batches(
    data: TrainingData, rng: np.random.Generator, options: TrainingOptions
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    device = options.torch_device
    n = len(data.users)
    # the same in every epoch, or of this one
    own = np.random.default_rng([options.seed, 0, 3]) if options.fixed_negatives else rng
    negatives = data.sampler.draw_lists(data.users, 1, own)[:, 0]
    order = torch.from_numpy(rng.permutation(2 * n)).to(device)
    users = torch.from_numpy(np.concatenate([data.users, data.users])).to(device)[order]
    items = torch.from_numpy(np.concatenate([data.items, negatives])).to(device)[order]
    labels = (order < n).float()
    size = options.batch_size
    for start in range(0, 2 * n, size):
        part = slice(start, start + size)
        yield users[part], items[part], labels[part]


def write_tables(bundle: Bundle, data: TrainingData, part: Path) -> None:
    """The tables an audit of the run needs, so that the folder stands by itself."""
    put_table(bundle.users, part / "users.parquet")
    put_table(bundle.items, part / "items.parquet")
    history = data.history.with_columns(texts_once(data.history["item_id"]))
    put_table(history, part / "history.parquet", rows_together=HISTORY_ROWS)
    for name, targets in (("validation", data.validation), ("test", data.test)):
        put_table(targets.table(bundle.users, bundle.items), part / f"{name}.parquet")


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
    rng = np.random.default_rng([seed, 4])
    negatives = data.sampler.draw_lists(data.holdout_users, 1, rng)[:, 0]
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
