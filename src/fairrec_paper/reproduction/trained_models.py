"""Table 1: the quality of the trained models."""

from __future__ import annotations

import polars as pl

from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import SUBJECT, mean_and_sd, published
from fairrec_paper.reproduction.data import TITLES
from fairrec_paper.reproduction.experiment import Experiment, Frames, Row, Setting, Trial
from fairrec_paper.reproduction.layout import Outcome
from fairrec_paper.reproduction.subject import Subject

NOTE = (
    "Loss and AUC on a random fifth of the training rows, each with a negative, which training "
    "never saw; with penalty: the loss that Keras reports and the paper probably printed, L2 "
    "penalty included; test columns on the last positive interaction of each user among 50 "
    "candidates. Mean and standard deviation over trainings where there are several."
)
MEASURED = ("loss", "auc", "loss_with_penalty", "test_auc", "test_mrr@5", "test_ndcg@5")


def training_trial(subject: Subject) -> Trial:
    """Loss and AUC of a trained model: one row."""

    def work(progress: Progress) -> list[Row]:
        record = subject.trained(progress)
        return [
            {
                "loss": record.holdout_loss,
                "loss_with_penalty": record.holdout_loss + record.penalty,
                "auc": record.holdout_auc,
                "n_train": record.n_train,
                "epochs": len(record.epochs),
                "best_epoch": record.best_epoch,
                "seconds": sum(epoch.seconds for epoch in record.epochs),
                **{f"test_{name}": value for name, value in record.test.items()},
            }
        ]

    name = f"{subject.source.name}: training {subject.folder.name}"
    return Trial("training", name, {}, work, {"training": subject.training.seed}, subject)


def training_trials(setting: Setting) -> list[Trial]:
    """Every model on every data set with every training seed, trained unless it is."""
    trials = [training_trial(subject) for subject in setting.trained_subjects()]
    if not trials:
        raise InputError(
            f"table1 is about trained models. Name one in {spell('models')}, such as deepfm."
        )
    return trials


def aggregate_trainings(rows: pl.DataFrame) -> pl.DataFrame:
    """Means over trainings, their standard deviations (`_sd`; null for one), and the published."""
    means = rows.group_by(SUBJECT, maintain_order=True).agg(
        pl.len().alias("trainings"), *mean_and_sd(*MEASURED)
    )
    printed = published().filter(experiment="table1").select(*SUBJECT, "metric", "printed")
    wide = printed.pivot("metric", index=SUBJECT, values="printed")
    return means.join(wide, on=SUBJECT, how="left", suffix="_published", maintain_order="left")


QUALITY: tuple[layout.Column, ...] = (
    *("model", ("loss", layout.fixed_spread("loss", 4))),
    ("with penalty", layout.fixed_spread("loss_with_penalty", 4)),
    ("published", layout.fixed("loss_published", 4)),
    ("AUC", layout.fixed_spread("auc", 4)),
    ("published", layout.fixed("auc_published", 4)),
    ("test auc", layout.fixed_spread("test_auc", 3)),
    *((name, layout.fixed_spread(f"test_{name}", 3)) for name in ("mrr@5", "ndcg@5")),
    ("trainings", layout.count("trainings")),
)
"""Ours beside the published."""


def report_quality(setting: Setting, frames: Frames) -> Outcome:
    """A row for each data set and model."""
    rows = setting.with_titles(aggregate_trainings(frames["training"]))
    title = f"Recommendation performance of the models: {setting.title}"
    data = setting.with_titles(frames["training"])
    table = layout.table("models", title, rows, ["data", *QUALITY], NOTE, 2)
    each = layout.table("trainings", f"Each training: {setting.title}", data, _EACH, "", 3)
    return Outcome((table, each), (), setting.notes)


_EACH: list[layout.Column] = [
    *("data", "model", ("seed", layout.text("training"))),
    ("loss", layout.fixed("loss", 4)),
    ("with penalty", layout.fixed("loss_with_penalty", 4)),
    *(("AUC", layout.fixed("auc", 4)), ("test auc", layout.figure("test_auc"))),
    *(("rows", layout.count("n_train")), ("epochs", layout.count("epochs"))),
    *(("kept", layout.count("best_epoch")), "seconds"),
]

MODEL_QUALITY_EXPERIMENT = Experiment(
    name="table1",
    label="Table 1",
    title="Recommendation performance of the models",
    datasets=tuple(TITLES),
    plan=training_trials,
    outcome=report_quality,
)
