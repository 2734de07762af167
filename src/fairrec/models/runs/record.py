"""What is written down about a trained run; read without torch."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


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
