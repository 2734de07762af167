"""A trained run: weights as safetensors, scores of its candidates, and a model to ask."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load, save

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.core.atomic_io import write_table
from fairrec.core.errors import InputError, OutputError, listed, plain
from fairrec.core.files import file_sum, read_parquet
from fairrec.inputs.ids import known_positions
from fairrec.scoring.features import is_missing
from fairrec.scoring.model import Model, ModelInput
from fairrec.scoring.options import Feature
from fairrec_paper.models.data import FeatureTables, Recommender, Target, feature_tables
from fairrec_paper.models.networks import MODELS, CTRModel, Fields, choose_device, score_pairs
from fairrec_paper.models.runs import (
    AGAIN,
    RUN,
    WEIGHTS,
    RunRecord,
    load_run_record,
    read_candidates,
)


def build_model(name: str, hyper: dict[str, Any], tables: FeatureTables) -> CTRModel:
    """A new model of this name; unknown hyper-parameters are errors."""
    kind = MODELS[name]
    known = {field.name for field in dataclasses.fields(kind.hyper_parameters)}
    unknown = sorted({*hyper} - known)
    if unknown:
        raise InputError(
            f"Model '{name}' has no hyper-parameter '{unknown[0]}'. "
            f"Known: {', '.join(sorted(known))}."
        )
    try:
        return kind(tables, kind.hyper_parameters(**hyper))
    except ValidationError as error:
        fault = error.errors()[0]
        raise InputError(
            f"invalid hyper-parameter {fault['loc'][0]}: expected "
            f"{fault['msg'].removeprefix('Input should be ')}, got {plain(repr(fault['input']))}"
        ) from None


def save_run(record: RunRecord, model: CTRModel, folder: Path) -> None:
    """Write the weights and, last, the record."""
    tensors = model.state_dict().items()
    content = save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors})
    (folder / WEIGHTS).write_bytes(content)
    (folder / RUN).write_text(record.model_dump_json(indent=2) + "\n", encoding="utf-8")


VERSION_LETTERS = 12


class Run(Recommender):
    """A finished run: its record, model and tables."""

    def __init__(
        self,
        record: RunRecord,
        model: CTRModel,
        users: pl.DataFrame,
        items: pl.DataFrame,
        folder: Path,
    ) -> None:
        super().__init__(users, items)
        self.record, self.model, self.folder = record, model, folder

    def version(self) -> str:
        """A short checksum of the weights, which are others after another training."""
        return file_sum(self.folder / WEIGHTS)[:VERSION_LETTERS]

    def score_positions(self, users: AnyArray, items: AnyArray) -> FloatArray:
        """The model's logit for each pair of positions."""
        return score_pairs(self.model, users, items)

    def candidates(self, target: Target = "test") -> pl.DataFrame:
        """`user_id`, `item_id`, `label`, one row a user, to be scored."""
        return read_candidates(self.folder / f"{target}.parquet")

    def tables(self) -> dict[str, Any]:
        """What an audit needs beside predictions: users, items, history and attributes."""
        return self.record.tables(self.folder)


def write_predictions(run: Run, target: Target, file: Path) -> int:
    """Write the scored candidates as Parquet and return their number."""
    if file.suffix.lower() not in (".parquet", ".pq"):
        raise OutputError(f"{file}: predictions are written as Parquet. Name it NAME.parquet.")
    predictions = run.predictions(target)
    write_table(predictions, file)
    return predictions.height


# types of numbers that torch has not are KeyErrors
_UNFIT = (OSError, SafetensorError, KeyError, RuntimeError, TypeError)


def load_run(folder: Path, device: str = "cpu") -> Run:
    """The run in a folder; clear errors where it is foreign or damaged."""
    record = load_run_record(folder)
    of_users = ("user_id", *record.attributes)
    users = read_parquet(folder / "users.parquet", AGAIN, of_users, "user_id")
    items = read_parquet(folder / "items.parquet", AGAIN, ("item_id",), "item_id")
    file = folder / WEIGHTS
    try:
        tables = feature_tables(users, items, record.attributes, record.options.get("features"))
        model = build_model(record.model, record.hyper_parameters, tables)
        # read here, because safetensors takes no path that is not Unicode
        model.load_state_dict(load(file.read_bytes()))
    except _UNFIT as error:
        raise InputError(
            f"{file}: cannot be read as the weights of this run ({plain(error, 300)}). {AGAIN}"
        ) from error
    # for good: threads that score side by side would switch it for each other
    return Run(record, model.to(choose_device(device)).eval(), users, items, folder)


ROWS_PER_CALL = 1 << 18


class RunModel(Model):
    """A run whose users may have other attributes than they had in training.

    A user whose attributes are as they were is asked about by the row that the model has; any
    other is a new row of the model's users, with the id's own embedding and the other values.
    """

    concurrency = 1
    rows_per_call = ROWS_PER_CALL

    def __init__(self, run: Run, with_attributes: bool = True) -> None:
        self._run = run
        names = run.record.attributes if with_attributes else ()
        self.features = tuple(Feature("users", name) for name in names)
        self.who = f"The run {plain(run.folder.name)}"

    def identity(self) -> str:
        """The checksum of its weights, as an audit's ledger has it."""
        return f"run {file_sum(self._run.folder / 'model.safetensors')}"

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """Positions of users, new ones where attributes are others, and of items."""
        run = self._run
        users = known_positions(pl.Series(columns["user_id"]), run.users["user_id"])
        items = known_positions(pl.Series(columns["item_id"]), run.items["item_id"])
        fields = [one for one in run.model.modules() if isinstance(one, Fields)]
        known = fields[0].user_rows.cpu().numpy()
        rows = known[users].copy()
        for field, feature in enumerate(self.features, 1):
            rows[:, field] = self._embedding_rows(
                columns[feature.column], feature.column, known[:, field]
            )
        if not np.array_equal(rows, known[users]):
            # the first columns of users are the same in all of them
            users = len(known) + np.arange(len(rows))
            for one in fields:
                more = torch.from_numpy(rows).to(one.user_rows)
                one.user_rows = torch.cat([one.user_rows, more])
        return (
            ModelInput("user", "user_id", users.astype(np.int32)),
            ModelInput("item", "item_id", items.astype(np.int32)),
        )

    def answer(self, inputs: Mapping[str, AnyArray]) -> Any:
        """The model's logit for each pair."""
        return score_pairs(self._run.model, inputs["user"], inputs["item"])

    def _embedding_rows(self, values: AnyArray, name: str, rows: AnyArray) -> AnyArray:
        """The row of the embeddings that each value has, by a user who has it."""
        own = self._run.users[name].to_list()
        # rows of users that were added have no value of their own in the table
        row_of = dict(zip(map(_as_text, own), rows[: len(own)].tolist(), strict=True))
        asked = [_as_text(one) for one in values.tolist()]
        unseen = sorted({one for one in asked if one not in row_of})
        if unseen:
            raise InputError(
                f"{self.who} has never seen {listed(unseen)} as {plain(name)}. Give the users "
                f"table that it was trained with; it has {listed(sorted(row_of))}."
            )
        return np.array([row_of[one] for one in asked])


def _as_text(value: object) -> str:
    """A value whatever table it came from; nothing where there is none."""
    return "" if is_missing(value) else str(value)
