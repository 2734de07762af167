"""Table 1: loss and AUC of the models."""

from __future__ import annotations

import polars as pl

from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec_paper.reproduction.comparison import SUBJECT
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.data_source import TITLES
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting
from fairrec_paper.reproduction.outcome import Outcome
from fairrec_paper.reproduction.published import published
from fairrec_paper.reproduction.trials.training import training_trial
from fairrec_paper.reproduction.trials.trial import Trial

NOTE = (
    "Loss and AUC on a random fifth of the training rows, each with a negative, which training "
    "never saw; with penalty: the loss that Keras reports and the paper probably printed, L2 "
    "penalty included; test columns on the last positive interaction of each user among 50 "
    "candidates. Mean and standard deviation over trainings where there are several."
)
MEASURED = ("loss", "auc", "loss_with_penalty", "test_auc", "test_mrr@5", "test_ndcg@5")


def plan(setting: Setting) -> list[Trial]:
    """Every model on every data set with every training seed, trained unless it is."""
    return training_trials(setting, "table1")


def training_trials(setting: Setting, experiment: str) -> list[Trial]:
    """The training of every model with every seed."""
    trials = [training_trial(subject, labels) for subject, labels in setting.trainings()]
    if not trials:
        raise InputError(
            f"{experiment} is about trained models. Name one in {spelled('models')}, such as "
            "deepfm."
        )
    return trials


def over_trainings(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Means over trainings, their standard deviations (`_sd`; null for one), and the published."""
    means = rows.group_by(by, maintain_order=True).agg(
        pl.len().alias("trainings"),
        pl.col(MEASURED).mean(),
        pl.col(MEASURED).std().name.suffix("_sd"),
    )
    printed = published().filter(experiment="table1").select(*SUBJECT, "metric", "printed")
    wide = printed.pivot("metric", index=SUBJECT, values="printed")
    return means.join(wide, on=SUBJECT, how="left", suffix="_published", maintain_order="left")


def quality_columns() -> list[layout.Column]:
    """Ours beside the published."""
    return [
        ("model", layout.model_title),
        ("loss", layout.fixed_spread("loss", 4)),
        ("with penalty", layout.fixed_spread("loss_with_penalty", 4)),
        ("published", layout.fixed("loss_published", 4)),
        ("AUC", layout.fixed_spread("auc", 4)),
        ("published", layout.fixed("auc_published", 4)),
        ("test auc", layout.fixed_spread("test_auc", 3)),
        ("mrr@5", layout.fixed_spread("test_mrr@5", 3)),
        ("ndcg@5", layout.fixed_spread("test_ndcg@5", 3)),
        ("trainings", layout.count("trainings")),
    ]


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """A row for each data set and model."""
    rows = setting.with_titles(over_trainings(frames["training"], SUBJECT))
    columns: list[layout.Column] = [("data", layout.text("data")), *quality_columns()]
    title = f"Recommendation performance of the models: {setting.title}"
    data = setting.with_titles(frames["training"])
    table = layout.table("models", title, rows, columns, NOTE, 2)
    each = layout.table("trainings", f"Each training: {setting.title}", data, _EACH, "", 3)
    return Outcome((table, each), (), setting.notes)


_EACH: list[layout.Column] = [
    ("data", layout.text("data")),
    ("model", layout.model_title),
    ("seed", layout.text("training")),
    ("loss", layout.fixed("loss", 4)),
    ("with penalty", layout.fixed("loss_with_penalty", 4)),
    ("AUC", layout.fixed("auc", 4)),
    ("test auc", layout.figure("test_auc")),
    ("rows", layout.count("n_train")),
    ("epochs", layout.count("epochs")),
    ("kept", layout.count("best_epoch")),
    ("seconds", layout.figure("seconds")),
]

EXPERIMENT = Experiment(
    name="table1",
    label="Table 1",
    title="Recommendation performance of the models",
    datasets=tuple(TITLES),
    plan=plan,
    outcome=outcome,
)
