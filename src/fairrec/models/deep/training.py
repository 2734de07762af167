"""Training a deep model on a bundle: early stopping, resumable after a kill."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fairrec.core.errors import InputError
from fairrec.core.files import check_writable, write_table
from fairrec.core.options import spelled
from fairrec.core.progress import Progress
from fairrec.core.version import __version__
from fairrec.datasets.bundle import Bundle
from fairrec.models.deep.base import CTRModel
from fairrec.models.deep.evaluation import evaluated, target_auc
from fairrec.models.deep.training_data import TrainingData, texts_once, training_data
from fairrec.models.deep.training_options import TrainingOptions
from fairrec.models.deep.training_state import TrainingState, state_files
from fairrec.models.runs.checkpoint import (
    build_model,
    hyper_as_dict,
    save_record,
    save_tensors,
)
from fairrec.models.runs.record import EpochRecord, RunRecord, load_run_record

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
    """Train a model and write the run; an unfinished run in the folder is taken up again.

    The weights of the epoch with the best validation AUC are kept.

    Parameters
    ----------
    restart : train anew even if the folder holds a run
    """
    options = options or TrainingOptions()
    progress = progress or (lambda stage, done, total: None)
    device = options.torch_device
    check_writable(folder)
    progress("preparing", 0, 0)
    data = training_data(
        bundle, options.all_positive, options.holdout, options.candidates, options.seed
    )
    torch.manual_seed(options.seed)
    model = build_model(model_name, hyper or {}, data.features).to(device)
    fresh = _fresh_record(bundle, model, data, options)
    folder.mkdir(parents=True, exist_ok=True)
    record = fresh if restart else _taken_up(fresh, folder)
    if record.finished:
        return record
    optimizer = torch.optim.Adam(model.parameters(), lr=options.learning_rate)
    state = TrainingState(model, optimizer, folder)
    if record.epochs:
        state.load(len(record.epochs))
    else:
        _clear(folder)
        write_tables(bundle, data, folder)
        state.keep_best()
    while not _is_over(record, options):
        record = _one_epoch(record, state, data, options, progress)
        if record.best_epoch == len(record.epochs):
            state.keep_best()
        # the record names the state it goes with, so a kill between the two loses one epoch at most
        state.save(len(record.epochs))
        save_record(record, folder / "run.json")
        state.forget_before(len(record.epochs))
    progress("evaluating", 0, 0)
    model.load_state_dict(state.best)
    record = evaluated(record, model, data, options.seed)
    save_tensors(model.state_dict(), folder / "model.safetensors")
    save_record(record, folder / "run.json")
    state.forget_before(len(record.epochs) + 1)
    return record


def _clear(folder: Path) -> None:
    """Take an older run out before its tables are written over."""
    for name in ("run.json", "model.safetensors"):
        (folder / name).unlink(missing_ok=True)
    for state in state_files(folder):
        state.unlink()


def _fresh_record(
    bundle: Bundle, model: CTRModel, data: TrainingData, options: TrainingOptions
) -> RunRecord:
    return RunRecord(
        fairrec_version=__version__,
        dataset=bundle.manifest.name,
        model=model.name,
        hyper_parameters=hyper_as_dict(model.hyper),
        options=dataclasses.asdict(options),
        attributes=bundle.manifest.attributes,
        has_categories=bundle.has_categories,
        user_sizes=data.features.user_sizes,
        item_sizes=data.features.item_sizes,
        n_categories=data.features.n_categories,
        n_train=len(data.users),
        n_too_short=data.n_too_short,
        epochs=(),
        best_epoch=0,
        finished=False,
        bundle_sha256=bundle.manifest.sha256,
    )


def _taken_up(fresh: RunRecord, folder: Path) -> RunRecord:
    """The run in the folder where it is this one, the fresh record where there is none."""
    if not (folder / "run.json").exists():
        return fresh
    record = load_run_record(folder)
    asked, there = _what_was_asked(fresh), _what_was_asked(record)
    for name, value in asked.items():
        if there[name] != value:
            raise InputError(
                f"{folder}: holds a run with another {name.replace('_', ' ')} ({there[name]}, now "
                f"{value}). Choose another folder, or begin anew with "
                f"{spelled('restart', True)}."
            )
    return record


def _what_was_asked(record: RunRecord) -> dict[str, Any]:
    asked = {"dataset": record.dataset, "model": record.model, "data": record.bundle_sha256}
    # through JSON a tuple is a list
    settings = {**record.hyper_parameters, **record.options}
    return asked | {k: list(v) if isinstance(v, tuple) else v for k, v in settings.items()}


def _is_over(record: RunRecord, options: TrainingOptions) -> bool:
    done = len(record.epochs)
    return done >= options.epochs or done - record.best_epoch >= options.patience


def _one_epoch(
    record: RunRecord,
    state: TrainingState,
    data: TrainingData,
    options: TrainingOptions,
    progress: Progress,
) -> RunRecord:
    """One pass over the positives, each with a fresh negative."""
    started = time.perf_counter()
    number = len(record.epochs) + 1
    # numbers of an epoch depend on the seed and the epoch alone, so a resumed run is the same
    rng = np.random.default_rng([options.seed, number, 3])
    torch.manual_seed(options.seed * 1_000_003 + number)
    model, device = state.model, options.torch_device
    model.train()
    total = torch.zeros((), device=device)
    n_rows = 2 * len(data.users)
    n_batches = -(-n_rows // options.batch_size)
    last = record.epochs[-1].validation_auc if record.epochs else float("nan")
    for done, (users, items, labels) in enumerate(_batches(data, rng, options), 1):
        state.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda"):
            logits = model(users, items)
        loss = binary_cross_entropy_with_logits(logits.float(), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        state.optimizer.step()
        total += loss.detach() * len(users)
        if done % 20 == 0 or done == n_batches:
            mean = float(total) / min(n_rows, done * options.batch_size)
            progress(f"epoch {number}: loss {mean:.4f}, last AUC {last:.4f}", done, n_batches)
    loss_value = float(total) / n_rows
    if not np.isfinite(loss_value):
        raise InputError(
            f"The loss is no longer finite. Lower {spelled('learning_rate')} and begin anew."
        )
    epoch = EpochRecord(
        epoch=number,
        loss=loss_value,
        validation_auc=target_auc(model, data.validation),
        seconds=time.perf_counter() - started,
    )
    epochs = (*record.epochs, epoch)
    best = max(epochs, key=lambda one: one.validation_auc).epoch
    return record.model_copy(update={"epochs": epochs, "best_epoch": best})


def _batches(
    data: TrainingData, rng: np.random.Generator, options: TrainingOptions
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    device = options.torch_device
    n = len(data.users)
    negatives = data.sampler.draw(data.users, rng)
    order = torch.from_numpy(rng.permutation(2 * n)).to(device)
    users = torch.from_numpy(np.concatenate([data.users, data.users])).to(device)[order]
    items = torch.from_numpy(np.concatenate([data.items, negatives])).to(device)[order]
    labels = (order < n).float()
    size = options.batch_size
    for start in range(0, 2 * n, size):
        part = slice(start, start + size)
        yield users[part], items[part], labels[part]


def write_tables(bundle: Bundle, data: TrainingData, folder: Path) -> None:
    """The tables an audit of the run needs, so that the folder stands by itself."""
    write_table(bundle.users, folder / "users.parquet")
    write_table(bundle.items, folder / "items.parquet")
    history = data.history.with_columns(texts_once(data.history["item_id"]))
    write_table(history, folder / "history.parquet", rows_together=HISTORY_ROWS)
    for name, targets in (("validation", data.validation), ("test", data.test)):
        write_table(targets.table(bundle), folder / f"{name}.parquet")
