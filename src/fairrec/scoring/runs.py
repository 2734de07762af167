"""Trained runs in folders, loaded by the packages with an entry point in `fairrec.runs`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal, Protocol, cast, runtime_checkable

import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.core.errors import InputError, plain
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.scoring.model import Model

GROUP = "fairrec.runs"

Target = Literal["test", "validation"]


@runtime_checkable
class Run(Protocol):
    """A trained run: the lists it was made to rank, and the model that ranks them.

    Attributes
    ----------
    file : where its test candidates are
    """

    folder: Path
    file: Path

    def tables(self) -> dict[str, Any]:
        """What an audit needs beside predictions: users, items, history and attributes."""

    def candidates(self, target: Target = "test") -> pl.DataFrame:
        """`user_id`, `item_id`, `label`, one row a user, to be scored."""

    def predictions(self, target: Target = "test") -> pl.DataFrame:
        """The candidates with their scores, one row a candidate."""

    def scored(self, inputs: AuditInputs, progress: Progress) -> AuditInputs:
        """The same inputs with the scores of their candidates."""

    def model(self, with_attributes: bool = True) -> Model:
        """The model to ask.

        Parameters
        ----------
        with_attributes : whether users may have other attributes than in training
        """


def load_run(folder: Path) -> Run:
    """The trained run in a folder."""
    found = entry_points(group=GROUP)
    if not found:
        raise InputError(
            f"{plain(folder, 300)}: no installed package loads trained runs. "
            "pip install 'fairrec[paper]'"
        )
    refused: InputError | None = None
    for one in found:
        try:
            return cast(Run, one.load().load(folder))
        except InputError as error:
            refused = refused or error
    assert refused is not None
    raise refused


@dataclass(frozen=True, slots=True)
class ScoreByRun:
    """The scores of a run, as a function that any process can be sent and loads the model once."""

    folder: Path

    def __call__(self, user_ids: AnyArray, item_ids: AnyArray) -> FloatArray:
        """The model's score for each pair of user and item."""
        model = _model_of(self.folder)
        inputs = model.bind({"user_id": user_ids, "item_id": item_ids})
        return cast(FloatArray, model.answer({one.name: one.values for one in inputs}))


@cache
def _model_of(folder: Path) -> Model:
    return load_run(folder).model(with_attributes=False)
