"""How gaps depend on two choices: the smallest group, and how many candidates are ranked."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting
from fairrec_paper.reproduction.outcome import Outcome
from fairrec_paper.reproduction.recommender import WHOLE_CATALOGUE
from fairrec_paper.reproduction.space import MIN_SUPPORT
from fairrec_paper.reproduction.trials.chance import chance_trial
from fairrec_paper.reproduction.trials.trial import Trial

SMALLEST = (0.0005, MIN_SUPPORT, 0.002, 0.005, 0.01)
"""Shares of users that a group must have; the paper's is among them."""
CANDIDATES = (50, 100, WHOLE_CATALOGUE)
"""Candidates of a user, the target included; the paper's are 50."""
QUICK_CANDIDATES = (50, 60, WHOLE_CATALOGUE)


def plan(setting: Setting) -> list[Trial]:
    """The exact gaps of every model, one choice changed at a time."""
    trials = []
    n_permutations = setting.options.permutations
    for subject, labels in setting.subjects():
        for min_support in SMALLEST:
            about = {**labels, "choice": f"groups of at least {min_support:.2%} of users"}
            trials.append(chance_trial(subject, about, n_permutations, min_support))
        # small worlds have fewer items than that
        for n in QUICK_CANDIDATES if setting.options.quick else CANDIDATES:
            about = {**labels, "choice": f"candidates: {n}"}
            trials.append(chance_trial(replace(subject, candidates=n), about, n_permutations))
    return trials


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """A row for each model, choice and metric."""
    rows = frames["chance"].drop("by_chance")
    rows = rows.with_columns(times_chance=pl.col("gap") / pl.col("chance_mean"))
    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("choice", layout.text("choice")),
        ("metric", layout.text("metric")),
        ("groups", layout.count("n_groups")),
        ("mean", layout.figure("mean")),
        ("gap", layout.figure("gap")),
        ("chance: mean", layout.figure("chance_mean")),
        ("95%", layout.figure("chance_q95")),
        ("gap / chance", layout.figure("times_chance")),
        ("p", layout.p_value()),
    ]
    note = (
        "Exact gaps between intersections of all attributes. Candidates: the target and items the "
        "user never interacted with, drawn at random or all of them; elsewhere those of the run, "
        "50, and groups of at least 0.1% of users."
    )
    tables = [
        layout.table(
            f"sensitivity-{source.name}",
            f"Gaps by choice: {source.title}",
            rows.filter(dataset=source.name),
            columns,
            note,
            3,
        )
        for source in setting.sources
    ]
    return Outcome(tuple(tables), (), setting.notes)


EXPERIMENT = Experiment(
    name="sensitivity",
    label="Sensitivity",
    title="Gaps by the smallest group and by the number of candidates",
    datasets=("movielens-1m",),
    plan=plan,
    outcome=outcome,
)
