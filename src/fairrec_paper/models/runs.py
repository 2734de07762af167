"""Trained runs without torch: their records and tables, loaded while an audit reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict

from fairrec.core.errors import InputError, plain
from fairrec.core.files import load_json, read_parquet
from fairrec.core.option_types import as_data
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.ids import known_positions
from fairrec_paper.models.options import need_torch

if TYPE_CHECKING:
    from fairrec.scoring.model import Model, Target
    from fairrec_paper.models.run import Run

RUN, WEIGHTS = "run.json", "model.safetensors"
AGAIN = "Train again, into another folder."
"""What to do where a run is damaged: in its own folder, it would be taken for files of others."""


class EpochRecord(BaseModel):
    """What one pass over the training data gave.

    Parameters
    ----------
    holdout_loss : with the penalty, as it was trained by; only where epochs are judged by it
    """

    model_config = ConfigDict(frozen=True)

    epoch: int
    loss: float
    validation_auc: float
    seconds: float
    holdout_loss: float | None = None


class RunRecord(BaseModel):
    """The content of `run.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    dataset: str
    model: str
    hyper_parameters: dict[str, Any]
    options: dict[str, Any]
    attributes: tuple[str, ...]
    has_categories: bool
    n_train: int
    n_too_short: int
    epochs: tuple[EpochRecord, ...]
    best_epoch: int
    holdout_loss: float
    holdout_auc: float
    penalty: float
    test: dict[str, float]
    bundle_sha256: dict[str, str]

    def tables(self, folder: Path) -> dict[str, Any]:
        """What an audit needs beside predictions: users, items, history and attributes."""
        return {
            "users": folder / "users.parquet",
            "items": folder / "items.parquet" if self.has_categories else None,
            "history": folder / "history.parquet",
            "by": self.attributes,
        }


def first_difference(settings: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """The first of the settings that differs from what was found, in words; "" where none does."""
    for name, value in settings.items():
        other = found.get(name)
        if isinstance(value, dict) and isinstance(other, dict):
            if difference := first_difference(value, other):
                return difference
        elif as_data(other) != as_data(value):
            return f"{name.replace('_', ' ')} ({other}, now {value})"
    return ""


def load_run_record(folder: Path) -> RunRecord:
    """The record of a run; a clear error where the folder is none."""
    file = folder / RUN
    if not file.exists():
        raise InputError(f"{plain(folder, 300)}: no run there. Make one with fairrec-paper train")
    return load_json(file, RunRecord, "trained run", AGAIN, AGAIN)


def read_candidates(file: Path) -> pl.DataFrame:
    """The candidates of a run."""
    return read_parquet(file, AGAIN, ("user_id", "item_id", "label"))


class LoadingRun:
    """A finished run: its candidates and tables now, its scores when the model is there.

    The candidates are read as any table is, each id once, and the model is asked for positions.

    Parameters
    ----------
    load : gives the run; called in a thread of its own, whose errors come up in `scored`
    """

    def __init__(self, folder: Path, load: Callable[[Path], Run]) -> None:
        self.folder, self._record = folder, load_run_record(folder)
        self.file = folder / "test.parquet"
        pool = ThreadPoolExecutor(1, "loading")
        self._loading = pool.submit(load, folder)
        pool.shutdown(wait=False)

    def tables(self) -> dict[str, Any]:
        """What an audit needs beside predictions: users, items, history and attributes."""
        return self._record.tables(self.folder)

    def candidates(self, target: Target = "test") -> pl.DataFrame:
        """`user_id`, `item_id`, `label`, one row a user, to be scored."""
        return read_candidates(self.folder / f"{target}.parquet")

    def predictions(self, target: Target = "test") -> pl.DataFrame:
        """The candidates with their scores, one row a candidate."""
        return self._loading.result().predictions(target)

    def model(self, with_attributes: bool = True) -> Model:
        """The model to ask, given users' attributes where these may be others than in training."""
        from fairrec_paper.models.run import RunModel

        return RunModel(self._loading.result(), with_attributes)

    def scored(self, inputs: AuditInputs, progress: Progress) -> AuditInputs:
        """The same inputs with the scores of their candidates."""
        from fairrec_paper.models.networks import score_pairs

        run, lists = self._loading.result(), inputs.candidates
        # a user and an item are looked up once, not in every pair
        users = known_positions(inputs.ids_of_lists, run.users["user_id"]).astype(np.int32)
        items = known_positions(lists.item_ids, run.items["item_id"]).astype(np.int32)
        scores = score_pairs(
            run.model,
            np.repeat(users, np.diff(lists.offsets)),
            items[lists.items],
            lambda done: progress("scoring", done, len(lists.items)),
        )
        if not np.isfinite(scores).all():
            raise InputError(
                f"{plain(self.folder, 200)}: the model gives scores that are not finite. Train "
                "again, with a lower learning rate."
            )
        return replace(inputs, candidates=replace(lists, scores=scores))


def load(folder: Path) -> LoadingRun:
    """A finished run on the best device there is, which the core asks for with `--run`."""
    need_torch()
    return LoadingRun(folder, _load_here)


def _load_here(folder: Path) -> Run:
    from fairrec_paper.models.run import load_run

    return load_run(folder, "auto")
