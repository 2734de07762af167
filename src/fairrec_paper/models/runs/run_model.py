"""A trained run as a model that is asked, given the attributes of users beside the ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import torch

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.files import file_sum
from fairrec.inputs.ids import known_positions
from fairrec.scoring.models.changed_features import is_missing
from fairrec.scoring.models.feature_names import Feature
from fairrec.scoring.models.model import ModelInput
from fairrec_paper.models.deep.base import Fields
from fairrec_paper.models.deep.score import score_pairs
from fairrec_paper.models.runs.run import Run

ROWS_PER_CALL = 1 << 18


class RunModel:
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

    def open(self) -> None:
        """The run is loaded."""

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
            rows[:, field] = self._rows_of(columns[feature.column], feature.column, known[:, field])
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

    def faults(self) -> dict[str, int]:
        """None: a run is never asked again."""
        return {}

    def stop(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing to let go of."""

    def _rows_of(self, values: AnyArray, name: str, rows: AnyArray) -> AnyArray:
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
