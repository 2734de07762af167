"""Table 1, the quality of models, and the spread of gaps over trainings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import polars as pl

from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.report.words import number
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import SUBJECT, mean_and_sd, published, published_exact
from fairrec_paper.reproduction.data import TITLES
from fairrec_paper.reproduction.experiment import Experiment, Frames, Row, Setting, Trial
from fairrec_paper.reproduction.layout import Outcome, OutcomeTable
from fairrec_paper.reproduction.methods import chance_trial
from fairrec_paper.reproduction.options import PROTOCOLS
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


def training_trials(setting: Setting, experiment: str) -> list[Trial]:
    """Every model on every data set with every training seed, trained unless it is."""
    trials = [training_trial(subject) for subject in setting.trained_subjects()]
    if not trials:
        raise InputError(
            f"{experiment} is about trained models. Name one in {spell('models')}, such as deepfm."
        )
    return trials


def aggregate_trainings(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Means over trainings, their standard deviations (`_sd`; null for one), and the published."""
    means = rows.group_by(by, maintain_order=True).agg(
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
    rows = setting.with_titles(aggregate_trainings(frames["training"], SUBJECT))
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
    plan=partial(training_trials, experiment="table1"),
    outcome=report_quality,
)


WHAT = [*SUBJECT, "protocol", "metric"]


def plan_trainings(setting: Setting) -> list[Trial]:
    """Every training by each protocol, and the exact gaps of every trained model."""
    trials = []
    for protocol in PROTOCOLS:
        own = setting.under(protocol)
        trained = training_trials(own, "trainings")
        tested = [
            chance_trial(subject, setting.options.permutations, {"training": subject.training.seed})
            for subject in own.trained_subjects()
        ]
        trials += [
            replace(trial, labels={**trial.labels, "protocol": protocol})
            for trial in (*trained, *tested)
        ]
    return trials


def report_trainings(setting: Setting, frames: Frames) -> Outcome:
    """The quality of the models, and the gaps of each training beside those of chance."""
    quality = aggregate_trainings(frames["training"], [*SUBJECT, "protocol"])
    columns: list[layout.Column] = [("protocol", layout.text("protocol")), *QUALITY]
    title = f"Quality over trainings: {setting.title}"
    first = layout.table("quality", title, quality, columns, NOTE, 2)
    notes = [note for protocol in PROTOCOLS for note in setting.under(protocol).notes]
    return Outcome((first, _gap_table(setting, frames["chance"])), (), tuple(notes))


def gaps_over_trainings(chance: pl.DataFrame) -> pl.DataFrame:
    """A row for each protocol, model and metric: the exact gap over trainings and under chance.

    Parameters
    ----------
    chance : rows of chance trials, with `protocol`, `training` and `chance_sd`

    Returns
    -------
    `gap`, `chance_mean` and `chance_sd` are means over trainings, `gap_sd` is the standard
    deviation over them (null for one), `share` is `gap_sd / gap`
    """
    rows = chance.group_by(WHAT, maintain_order=True).agg(
        pl.len().alias("trainings"),
        *mean_and_sd("gap"),
        pl.col("gap").min().alias("gap_least"),
        pl.col("gap").max().alias("gap_most"),
        pl.col("chance_mean", "chance_sd").mean(),
        pl.col("p_value").max().alias("p_value_most"),
        pl.col("training"),
        pl.col("gap").alias("gap_per_training"),
    )
    rows = rows.with_columns(share=pl.col("gap_sd") / pl.col("gap"))
    return rows.join(published_exact(), on=[*SUBJECT, "metric"], how="left", maintain_order="left")


def _gap_table(setting: Setting, chance: pl.DataFrame) -> OutcomeTable:
    each = add_chance_spread(chance)
    rows = gaps_over_trainings(each)

    def of_training(at: int) -> Callable[[layout.ShownRow], str]:
        return lambda row: number(row["gap_per_training"][at])

    columns: list[layout.Column] = [
        *(("protocol", layout.text("protocol")), "model", "metric"),
        *((f"seed {seed}", of_training(at)) for at, seed in enumerate(setting.options.trainings)),
        *(("mean", layout.figure("gap")), ("sd", layout.figure("gap_sd"))),
        *(("sd / mean", layout.percent("share", 0)), "published", "chance_mean"),
        *(("sd", layout.figure("chance_sd")), ("largest p", layout.p_value("p_value_most"))),
    ]
    note = (
        "Exact gaps between intersections of all attributes, of models that differ in nothing but "
        "the seed of their training: the same rows, targets and candidates. Chance: gaps between "
        "groups of shuffled attributes, which have a spread of their own."
    )
    title = f"Gaps of each training: {setting.title}"
    return layout.table("gaps", title, rows, columns, note, 3, data=each)


def add_chance_spread(chance: pl.DataFrame) -> pl.DataFrame:
    """The rows with `chance_sd`, of gaps between shuffled groups, in the place of these gaps."""
    return chance.with_columns(chance_sd=pl.col("by_chance").list.std()).drop(
        "by_chance", "min_support"
    )


TRAININGS_EXPERIMENT = Experiment(
    name="trainings",
    label="Trainings",
    title="How much of each gap is the training, by both protocols",
    datasets=("movielens-1m",),
    plan=plan_trainings,
    outcome=report_trainings,
)
