"""Training a deep model on a bundle: early stopping, resumable after a kill."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fairrec.core.atomic_io import (
    atomic_folder,
    check_writable,
    errors_of_disk,
    put_table,
    refuse_foreign,
    sole,
)
from fairrec.core.errors import InputError
from fairrec.core.files import is_json_with
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.core.version import __version__
from fairrec.demo.held_out import texts_once
from fairrec_paper.datasets.bundle import Bundle
from fairrec_paper.models.data import TrainingData, training_data
from fairrec_paper.models.evaluation import (
    evaluated,
    holdout_quality,
    one_thread,
    penalty,
    target_auc,
)
from fairrec_paper.models.networks import CTRModel
from fairrec_paper.models.options import TrainingOptions
from fairrec_paper.models.run import build_model, hyper_as_dict, save_record, save_tensors
from fairrec_paper.models.runs import RUN, RUNNING, EpochRecord, RunRecord, load_run_record

PREFIX = "training-"


def state_files(folder: Path) -> list[Path]:
    """The states of an unfinished training."""
    return [*folder.glob(f"{PREFIX}*")]


class TrainingState:
    """What a killed training needs to go on: weights, the best weights, the optimiser's means."""

    def __init__(self, model: CTRModel, optimizer: torch.optim.Adam, folder: Path) -> None:
        self.model = model
        self.optimizer = optimizer
        self.folder = folder
        self.best: dict[str, Tensor] = {}

    def keep_best(self) -> None:
        """Remember the present weights as the best ones."""
        self.best = {
            name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()
        }

    def file(self, epoch: int) -> Path:
        """Where the state after an epoch is."""
        return self.folder / f"{PREFIX}{epoch:04d}.safetensors"

    def forget_before(self, epoch: int) -> None:
        """Remove the files of earlier epochs."""
        for file in state_files(self.folder):
            if file.name < self.file(epoch).name:
                file.unlink()

    def save(self, epoch: int) -> None:
        """Write the state after an epoch."""
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        tensors |= {f"best.{name}": t for name, t in self.best.items()}
        for number, means in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": t.clone() for name, t in means.items()}
        save_tensors(tensors, self.file(epoch))

    def load(self, epoch: int) -> None:
        """Take up the state after an epoch."""
        try:
            self._fill(load_file(self.file(epoch)))
        except (OSError, SafetensorError, KeyError, RuntimeError) as error:
            raise InputError(
                f"{self.file(epoch)}: the unfinished training cannot be taken up ({error}). "
                f"Begin anew with {spell('restart', True)}."
            ) from error

    def _fill(self, tensors: dict[str, Tensor]) -> None:
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "best": {}, "optimizer": {}}
        for key, tensor in tensors.items():
            part, _, name = key.partition(".")
            parts[part][name] = tensor
        self.model.load_state_dict(parts["model"])
        device = next(self.model.parameters()).device
        self.best = {name: tensor.to(device) for name, tensor in parts["best"].items()}
        means: dict[int, dict[str, Tensor]] = {}
        for key, tensor in parts["optimizer"].items():
            number, _, name = key.partition(".")
            means.setdefault(int(number), {})[name] = tensor
        whole = self.optimizer.state_dict()
        whole["state"] = means
        self.optimizer.load_state_dict(whole)


_LOCK, _WEIGHTS = "training.lock", "model.safetensors"
_TABLES = tuple(f"{name}.parquet" for name in ("users", "items", "history", "validation", "test"))

STEPS_TOLD = 20
"""Steps after which the loss is told: to read it, a GPU must have finished."""
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

    The weights of the best epoch are kept. A run that is there stays whole
    until the new one is.

    Parameters
    ----------
    restart : train anew even if the folder holds a run
    """
    options = options or TrainingOptions()
    progress = progress or (lambda stage, done, total: None)
    check_writable(folder)
    _refuse_no_run(folder)
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
    fresh = _fresh_record(bundle, model, data, options)
    with errors_of_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with sole(folder / _LOCK, "is training"):
            record = fresh if restart else _taken_up(fresh, folder)
            if record.finished:
                return record
            state, record = _trained(record, model, folder, data, options, progress)
            progress("evaluating", 0, 0)
            model.load_state_dict(state.best)
            record = evaluated(record, model, data, options)
            left = (file.name for file in state_files(folder))
            with atomic_folder(folder, owned=(*left, RUNNING, RUN)) as part:
                write_tables(bundle, data, part)
                save_tensors(model.state_dict(), part / _WEIGHTS)
                save_record(record, part / RUN)
    return record


def _refuse_no_run(folder: Path) -> None:
    """Refuse a folder in which a run would replace files that are of none, such as an audit's."""
    if not any(is_json_with(folder / name, "hyper_parameters") for name in (RUN, RUNNING)):
        refuse_foreign(folder, (*_TABLES, _WEIGHTS, RUN), "trained run")


def _trained(
    record: RunRecord,
    model: CTRModel,
    folder: Path,
    data: TrainingData,
    options: TrainingOptions,
    progress: Progress,
) -> tuple[TrainingState, RunRecord]:
    """Train epoch by epoch, each kept until the run is written."""
    groups = _parameter_groups(model, options)
    # all weights in one call: with small steps the calls take as long as the arithmetic
    optimizer = torch.optim.Adam(groups, lr=options.learning_rate, fused=True)
    state = TrainingState(model, optimizer, folder)
    if record.epochs:
        state.load(len(record.epochs))
    else:
        # the record first: it names a state
        (folder / RUNNING).unlink(missing_ok=True)
        for file in state_files(folder):
            file.unlink()
        state.keep_best()
    while not _is_over(record, options):
        record = _one_epoch(record, state, data, options, progress)
        if record.best_epoch == len(record.epochs):
            state.keep_best()
        # the record names the state it goes with, so a kill between the two loses one epoch at most
        state.save(len(record.epochs))
        save_record(record, folder / RUNNING)
        state.forget_before(len(record.epochs))
    return state, record


def _parameter_groups(model: CTRModel, options: TrainingOptions) -> list[dict[str, Any]]:
    """The weights, those with a penalty apart."""
    if not options.l2:
        return [{"params": [*model.parameters()]}]
    penalised = model.penalised()
    theirs = {id(weight) for weight in penalised}
    others = [weight for weight in model.parameters() if id(weight) not in theirs]
    # the slope of a penalty of l2 times the square
    return [{"params": penalised, "weight_decay": 2 * options.l2}, {"params": others}]


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
    names = [name for name in (RUN, RUNNING) if (folder / name).exists()]
    records = [load_run_record(folder, name) for name in names]
    others = [_other_than(fresh, record) for record in records]
    for record, other in zip(records, others, strict=True):
        if not other:
            return record
    if others:
        raise InputError(
            f"{folder}: holds a run with another {others[0]}. Choose another folder, or begin anew "
            f"with {spell('restart', True)}."
        )
    return fresh


def _other_than(fresh: RunRecord, record: RunRecord) -> str:
    """The first thing that was asked of a run and is not asked of the fresh one, in words."""
    asked, there = _what_was_asked(fresh), _what_was_asked(record)
    for name, value in asked.items():
        if there.get(name) != value:
            return f"{name.replace('_', ' ')} ({there.get(name)}, now {value})"
    return ""


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
    """One pass over the positives, each with a negative."""
    started = time.perf_counter()
    number = len(record.epochs) + 1
    # numbers of an epoch depend on the seed and the epoch alone, so a resumed run is the same
    rng = np.random.default_rng([options.seed, number, 3])
    torch.manual_seed(options.seed * 1_000_003 + number)
    model = state.model
    last = record.epochs[-1].validation_auc if record.epochs else math.nan
    # none in the first epoch, and where there are no targets to validate by
    beside = "" if math.isnan(last) else f", last AUC {last:.4f}"

    def told(loss: float, done: int, n_batches: int) -> None:
        progress(f"epoch {number}: loss {loss:.4f}{beside}", done, n_batches)

    loss_value = _fitted(state, data, rng, options, told)
    if not np.isfinite(loss_value):
        raise InputError(
            f"The loss is no longer finite. Lower {spell('learning_rate')} and begin anew."
        )
    holdout_loss = None
    if options.best_by == "holdout-loss":
        holdout_loss = holdout_quality(model, data, options.seed_of_data).loss
        holdout_loss += penalty(model, options.l2)
    epoch = EpochRecord(
        epoch=number,
        loss=loss_value,
        validation_auc=target_auc(model, data.validation),
        seconds=time.perf_counter() - started,
        holdout_loss=holdout_loss,
    )
    epochs = (*record.epochs, epoch)
    return record.model_copy(update={"epochs": epochs, "best_epoch": _best(epochs).epoch})


def _fitted(
    state: TrainingState,
    data: TrainingData,
    rng: np.random.Generator,
    options: TrainingOptions,
    told: Callable[[float, int, int], None],
) -> float:
    """The mean loss over the steps of an epoch, which are taken."""
    model, optimizer = state.model, state.optimizer
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
            if done % STEPS_TOLD == 0 or done == n_batches:
                told(float(total) / min(n_rows, done * options.batch_size), done, n_batches)
    return float(total) / n_rows


def _best(epochs: Sequence[EpochRecord]) -> EpochRecord:
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
    negatives = data.sampler.draw(data.users, own)
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
