"""What is written down about a trained run; read without torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from fairrec.core.errors import InputError
from fairrec.core.folders import settle

RUN, RUNNING = "run.json", "training.json"
"""The record of a finished run, and of one whose training has begun."""


class EpochRecord(BaseModel):
    """What one pass over the training data gave."""

    model_config = ConfigDict(frozen=True)

    epoch: int
    loss: float
    validation_auc: float
    seconds: float


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
    user_sizes: tuple[int, ...]
    item_sizes: tuple[int, ...]
    n_categories: int
    n_train: int
    n_too_short: int
    epochs: tuple[EpochRecord, ...]
    best_epoch: int
    finished: bool
    holdout_loss: float | None = None
    holdout_auc: float | None = None
    test: dict[str, float] = {}
    bundle_sha256: dict[str, str] = {}

    def tables(self, folder: Path) -> dict[str, Any]:
        """What an audit needs beside predictions: users, items, history and attributes."""
        return {
            "users": folder / "users.parquet",
            "items": folder / "items.parquet" if self.has_categories else None,
            "history": folder / "history.parquet",
            "by": self.attributes,
        }


def load_run_record(folder: Path, name: str = RUN) -> RunRecord:
    """The record of a run; a clear error where the folder is none."""
    settle(folder)
    file = folder / name
    try:
        return RunRecord.model_validate(json.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(
            f"{folder}: no run there ({error.strerror}). Make one with fairrec train"
        ) from error
    except (ValidationError, ValueError) as error:
        raise InputError(
            f"{file}: is damaged or of another version of FairRec. Train again."
        ) from error


def load_finished_record(folder: Path) -> RunRecord:
    """The record of a run that can be asked; an error where its training has not finished."""
    settle(folder)
    is_begun = not (folder / RUN).exists() and (folder / RUNNING).exists()
    record = load_run_record(folder, RUNNING if is_begun else RUN)
    if not record.finished:
        raise InputError(
            f"{folder}: training has not finished ({len(record.epochs)} epochs done). "
            "Give the same fairrec train command again to go on."
        )
    return record


def read_table(file: Path) -> pl.DataFrame:
    """A table of a run."""
    try:
        # opened here, because Polars takes no path that is not Unicode
        with file.open("rb") as stream:
            return pl.read_parquet(stream)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{file}: cannot be read ({error}). Train again.") from error
