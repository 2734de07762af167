"""How much of each gap is the training: both protocols, several trainings of each model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from fairrec.report.words import number
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import SUBJECT, published_exact
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting
from fairrec_paper.reproduction.experiments.table1_model_quality import (
    NOTE,
    over_trainings,
    quality_columns,
    training_trials,
)
from fairrec_paper.reproduction.options import PROTOCOLS
from fairrec_paper.reproduction.outcome import Outcome, OutcomeTable
from fairrec_paper.reproduction.trials.chance import chance_trial
from fairrec_paper.reproduction.trials.trial import Trial

WHAT = [*SUBJECT, "protocol", "metric"]


def plan(setting: Setting) -> list[Trial]:
    """Every training by each protocol, and the exact gaps of every trained model."""
    trials = []
    for protocol in PROTOCOLS:
        own = setting.under(protocol)
        trained = training_trials(own, "trainings")
        tested = [
            chance_trial(subject, labels, setting.options.permutations)
            for subject, labels in own.trainings()
        ]
        trials += [
            replace(trial, labels={**trial.labels, "protocol": protocol})
            for trial in (*trained, *tested)
        ]
    return trials


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """The quality of the models, and the gaps of each training beside those of chance."""
    quality = over_trainings(frames["training"], [*SUBJECT, "protocol"])
    columns: list[layout.Column] = [("protocol", layout.text("protocol")), *quality_columns()]
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
        pl.col("gap").mean(),
        pl.col("gap").std().alias("gap_sd"),
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
    each = with_spread(chance)
    rows = gaps_over_trainings(each)

    def of_training(at: int) -> Callable[[layout.ShownRow], str]:
        return lambda row: number(row["gap_per_training"][at])

    columns: list[layout.Column] = [
        ("protocol", layout.text("protocol")),
        ("model", layout.model_title),
        ("metric", layout.text("metric")),
        *((f"seed {seed}", of_training(at)) for at, seed in enumerate(setting.options.trainings)),
        ("mean", layout.figure("gap")),
        ("sd", layout.figure("gap_sd")),
        ("sd / mean", layout.percent("share", 0)),
        ("published", layout.figure("published")),
        ("chance: mean", layout.figure("chance_mean")),
        ("sd", layout.figure("chance_sd")),
        ("largest p", layout.p_value("p_value_most")),
    ]
    note = (
        "Exact gaps between intersections of all attributes, of models that differ in nothing but "
        "the seed of their training: the same rows, targets and candidates. Chance: gaps between "
        "groups of shuffled attributes, which have a spread of their own."
    )
    title = f"Gaps of each training: {setting.title}"
    return layout.table("gaps", title, rows, columns, note, 3, data=each)


def with_spread(chance: pl.DataFrame) -> pl.DataFrame:
    """The rows with `chance_sd`, of gaps between shuffled groups, in the place of these gaps."""
    return chance.with_columns(chance_sd=pl.col("by_chance").list.std()).drop("by_chance")


EXPERIMENT = Experiment(
    name="trainings",
    label="Trainings",
    title="How much of each gap is the training, by both protocols",
    datasets=("movielens-1m",),
    plan=plan,
    outcome=outcome,
)
