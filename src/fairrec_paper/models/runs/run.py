"""A trained run, loaded to score its candidates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.core.errors import InputError, OutputError
from fairrec.core.files import file_sum, write_table
from fairrec.core.parquet import damaged
from fairrec.inputs.ids import known_positions
from fairrec_paper.models.deep.base import CTRModel, chosen_device
from fairrec_paper.models.deep.features import feature_tables
from fairrec_paper.models.deep.score import score_pairs
from fairrec_paper.models.runs.checkpoint import load_model
from fairrec_paper.models.runs.record import (
    AGAIN,
    RunRecord,
    load_finished_record,
    read_candidates,
    read_items,
    read_users,
)

VERSION_LETTERS = 12


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its record, model and tables."""

    record: RunRecord
    model: CTRModel
    users: pl.DataFrame
    items: pl.DataFrame
    folder: Path

    def version(self) -> str:
        """A short checksum of the weights, which are others after another training."""
        return file_sum(self.folder / "model.safetensors")[:VERSION_LETTERS]

    def score(self, user_ids: AnyArray, item_ids: AnyArray) -> FloatArray:
        """The model's logit for each pair of user and item."""
        users = known_positions(pl.Series("user_id", user_ids), self.users["user_id"])
        items = known_positions(pl.Series("item_id", item_ids), self.items["item_id"])
        return score_pairs(self.model, users, items)

    def candidates(self, target: Literal["test", "validation"] = "test") -> pl.DataFrame:
        """`user_id`, `item_id`, `label`, one row a user, to be scored."""
        return read_candidates(self.folder / f"{target}.parquet")

    def tables(self) -> dict[str, Any]:
        """What an audit needs beside predictions: users, items, history and attributes."""
        return self.record.tables(self.folder)

    def predictions(self, target: Literal["test", "validation"] = "test") -> pl.DataFrame:
        """`user_id`, `item_id`, `score`, `label`, one row a candidate."""
        rows = self.candidates(target).explode("item_id", "label")
        users = known_positions(rows["user_id"], self.users["user_id"])
        items = known_positions(rows["item_id"], self.items["item_id"])
        # as text, which can be joined with any other table
        item_ids = rows["item_id"].cast(self.items["item_id"].dtype)
        return rows.with_columns(
            item_ids, pl.Series("score", score_pairs(self.model, users, items))
        )


def write_predictions(run: Run, target: Literal["test", "validation"], file: Path) -> int:
    """Write the scored candidates as Parquet and return their number."""
    if file.suffix.lower() not in (".parquet", ".pq"):
        raise OutputError(f"{file}: predictions are written as Parquet. Name it NAME.parquet.")
    predictions = run.predictions(target)
    write_table(predictions, file)
    return predictions.height


def load_run(folder: Path, device: str = "cpu") -> Run:
    """The run in a folder; clear errors where it is unfinished, foreign or damaged."""
    record = load_finished_record(folder)
    users, items = read_users(folder, record.attributes), read_items(folder)
    with damaged(folder, AGAIN):
        features = record.options.get("features")
        tables = feature_tables(users, items, record.attributes, features)
    if (tables.user_sizes, tables.item_sizes) != (record.user_sizes, record.item_sizes):
        raise InputError(f"{folder}: its tables are not those of its run.json. {AGAIN}")
    weights = folder / "model.safetensors"
    model = load_model(record.model, record.hyper_parameters, tables, weights)
    # for good: threads that score side by side would switch it for each other
    return Run(record, model.to(chosen_device(device)).eval(), users, items, folder)
