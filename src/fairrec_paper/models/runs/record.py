"""What is written down about a trained run; read without torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from fairrec.core.errors import InputError, plain
from fairrec.core.folders import settle
from fairrec.core.json_file import load_json
from fairrec.core.parquet import (
    Kind,
    is_id,
    is_number,
    is_value,
    lists_of,
    read_parquet,
)

RUN, RUNNING = "run.json", "training.json"
"""The record of a finished run, and of one whose training has begun."""
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
    penalty: float = 0.0
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
    if not file.exists():
        raise InputError(f"{plain(folder, 300)}: no run there. Make one with fairrec-paper train")
    return load_json(file, RunRecord, "trained run", AGAIN, AGAIN)


def load_finished_record(folder: Path) -> RunRecord:
    """The record of a run that can be asked; an error where its training has not finished."""
    settle(folder)
    is_begun = not (folder / RUN).exists() and (folder / RUNNING).exists()
    record = load_run_record(folder, RUNNING if is_begun else RUN)
    if not record.finished:
        raise InputError(
            f"{folder}: training has not finished ({len(record.epochs)} epochs done). "
            "Give the same fairrec-paper train command again to go on."
        )
    return record


def read_users(folder: Path, attributes: Sequence[str]) -> pl.DataFrame:
    """The users of a run."""
    columns: dict[str, Kind] = {"user_id": is_id, **dict.fromkeys(attributes, is_value)}
    return read_parquet(folder / "users.parquet", AGAIN, columns, "user_id")


def read_items(folder: Path) -> pl.DataFrame:
    """The items of a run."""
    columns: dict[str, Kind] = {"item_id": is_id, "categories": lists_of(is_id)}
    file = folder / "items.parquet"
    return read_parquet(file, AGAIN, columns, "item_id", optional=("categories",))


def read_candidates(file: Path) -> pl.DataFrame:
    """The candidates of a run."""
    columns = {"user_id": is_id, "item_id": lists_of(is_id), "label": lists_of(is_number)}
    table = read_parquet(file, AGAIN, columns)
    lengths = table.select(pl.col("item_id", "label").list.len())
    if table["item_id"].null_count() or not lengths["item_id"].equals(lengths["label"]):
        raise InputError(f"{plain(file, 300)}: some items have no label. {AGAIN}")
    return table
