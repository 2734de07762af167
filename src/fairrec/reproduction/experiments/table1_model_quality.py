"""Table 1: loss and AUC of the models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from fairrec.core.errors import InputError
from fairrec.core.progress import Progress
from fairrec.reproduction import layout
from fairrec.reproduction.cells import Cell, Row
from fairrec.reproduction.data import TITLES
from fairrec.reproduction.experiment import Experiment, Frames, Outcome, Setting, Table
from fairrec.reproduction.published import published
from fairrec.reproduction.subject import Subject

CODE = 1
"""Raise it when the work changes, so that cells kept from before are worked out again."""


def training_cell(subject: Subject, labels: Mapping[str, Any]) -> Cell:
    """Loss and AUC of a trained model: one row."""

    def work(told: Progress) -> list[Row]:
        record = subject.trained(told)
        return [
            {
                "loss": record.holdout_loss,
                "auc": record.holdout_auc,
                "n_train": record.n_train,
                "epochs": len(record.epochs),
                "seconds": sum(epoch.seconds for epoch in record.epochs),
                **{f"test_{name}": value for name, value in record.test.items()},
            }
        ]

    def about(told: Progress) -> dict[str, Any]:
        return {"code": CODE, **subject.identity(told)}

    return Cell("training", f"{labels['dataset']}: training {subject.model}", about, work, labels)


def plan(setting: Setting) -> list[Cell]:
    """Every model on every data set, trained unless it is."""
    cells = [
        training_cell(subject, labels)
        for subject, labels in setting.subjects()
        if subject.model != "taste"
    ]
    if not cells:
        raise InputError("table1 is about trained models. Name one in --models, such as deepfm.")
    return cells


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """A row for each data set and model."""
    printed = (
        published().filter(experiment="table1").select("dataset", "model", "metric", "printed")
    )
    wide = printed.pivot("metric", index=["dataset", "model"], values="printed")
    rows = (
        frames["training"]
        .join(wide, on=["dataset", "model"], how="left", suffix="_published", maintain_order="left")
        .with_columns(data=pl.col("dataset").map_elements(setting.title_of, pl.String))
    )
    columns: list[layout.Column] = [
        ("data", layout.text("data")),
        ("model", layout.model_title),
        ("loss", lambda row: f"{row['loss']:.4f}"),
        ("published", _four("loss_published")),
        ("AUC", lambda row: f"{row['auc']:.4f}"),
        ("published", _four("auc_published")),
        ("test auc", layout.figure("test_auc")),
        ("mrr@5", layout.figure("test_mrr@5")),
        ("ndcg@5", layout.figure("test_ndcg@5")),
        ("rows", layout.whole("n_train")),
        ("epochs", layout.whole("epochs")),
        ("seconds", layout.figure("seconds")),
    ]
    note = (
        "Loss and AUC on a random fifth of the training rows, each with a negative, which training "
        "never saw; test columns on the last positive interaction of each user among 50 candidates."
    )
    title = f"Recommendation performance of the models: {setting.title}"
    return Outcome((Table("models", rows, layout.lay_out(title, rows, columns, note, 2)),))


def _four(name: str) -> layout.Shown:
    return lambda row: "-" if row[name] is None else f"{row[name]:.4f}"


EXPERIMENT = Experiment(
    name="table1",
    label="Table 1",
    title="Recommendation performance of the models",
    datasets=tuple(TITLES),
    plan=plan,
    outcome=outcome,
)
