"""Table 1: loss and AUC of the models."""

from __future__ import annotations

from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec.reproduction import layout
from fairrec.reproduction.data_source import TITLES
from fairrec.reproduction.experiment import Experiment, Frames, Setting
from fairrec.reproduction.outcome import Outcome
from fairrec.reproduction.published import published
from fairrec.reproduction.trials.training import training_trial
from fairrec.reproduction.trials.trial import Trial


def plan(setting: Setting) -> list[Trial]:
    """Every model on every data set, trained unless it is."""
    trials = [
        training_trial(subject, labels)
        for subject, labels in setting.subjects()
        if subject.model != "taste"
    ]
    if not trials:
        raise InputError(
            f"table1 is about trained models. Name one in {spelled('models')}, such as deepfm."
        )
    return trials


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """A row for each data set and model."""
    printed = (
        published().filter(experiment="table1").select("dataset", "model", "metric", "printed")
    )
    wide = printed.pivot("metric", index=["dataset", "model"], values="printed")
    rows = setting.with_titles(
        frames["training"].join(
            wide, on=["dataset", "model"], how="left", suffix="_published", maintain_order="left"
        )
    )
    columns: list[layout.Column] = [
        ("data", layout.text("data")),
        ("model", layout.model_title),
        ("loss", layout.fixed("loss", 4)),
        ("published", layout.fixed("loss_published", 4)),
        ("AUC", layout.fixed("auc", 4)),
        ("published", layout.fixed("auc_published", 4)),
        ("test auc", layout.figure("test_auc")),
        ("mrr@5", layout.figure("test_mrr@5")),
        ("ndcg@5", layout.figure("test_ndcg@5")),
        ("rows", layout.count("n_train")),
        ("epochs", layout.count("epochs")),
        ("seconds", layout.figure("seconds")),
    ]
    note = (
        "Loss and AUC on a random fifth of the training rows, each with a negative, which training "
        "never saw; test columns on the last positive interaction of each user among 50 candidates."
    )
    title = f"Recommendation performance of the models: {setting.title}"
    return Outcome((layout.table("models", title, rows, columns, note, 2),))


EXPERIMENT = Experiment(
    name="table1",
    label="Table 1",
    title="Recommendation performance of the models",
    datasets=tuple(TITLES),
    plan=plan,
    outcome=outcome,
)
