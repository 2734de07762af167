"""Figure 6: accuracy and time of FairRec over its number of particles and of iterations."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl

from fairrec.report.figures.hyper_curves import hyper_curves
from fairrec.reproduction import layout
from fairrec.reproduction.comparison import mean_accuracy
from fairrec.reproduction.data_source import TITLES, DataSource
from fairrec.reproduction.experiment import Experiment, Frames, Setting
from fairrec.reproduction.methods import DPSO
from fairrec.reproduction.outcome import Drawing, Outcome
from fairrec.reproduction.space import MIN_SUPPORT
from fairrec.reproduction.trials.chance import chance_trial
from fairrec.reproduction.trials.searches import Method, search_trial
from fairrec.reproduction.trials.trial import Trial
from fairrec.search.searchers.swarms import FEW_COMBINATIONS

PAPER_MODEL = "deepfm"
"""The paper does not say which."""
GRIDS: dict[bool, dict[str, tuple[float, ...]]] = {
    True: {
        "epsilon": (0.01, 0.02, 0.05, 0.1, 0.2, 0.4),
        "iterations": (1, 2, 5, 10, 15, 20),
    },
    False: {
        "epsilon": (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02),
        "iterations": (1, 5, 10, 15, 20, 30),
    },
}
"""By whether there are at most 1,000 combinations; the other parameter keeps its default."""
ADVICE = {
    True: {"epsilon": (0.1, 0.2), "iterations": (5, 10)},
    False: {"epsilon": (0.002, 0.005), "iterations": (15, 20)},
}
"""What the paper suggests."""


def has_few(source: DataSource) -> bool:
    """Whether the attributes have few combinations."""
    users, names = source.bundle.users, source.bundle.manifest.attributes
    return math.prod(users[name].n_unique() for name in names) <= FEW_COMBINATIONS


def _variants(setting: Setting, source: DataSource) -> list[tuple[str, float, Method]]:
    grids = GRIDS[has_few(source)]
    return [
        (name, value, replace(DPSO, title=f"dpso {name}={value:g}", hyper={name: value}))
        for name, grid in grids.items()
        for value in (grid[::3] if setting.options.quick else grid)
    ]


def plan(setting: Setting) -> list[Trial]:
    """Searches over both grids, and the exact gaps."""
    trials = []
    for source in setting.sources:
        subject, labels = setting.one_subject(source, PAPER_MODEL)
        about = {**labels, "min_support": MIN_SUPPORT}
        trials.append(chance_trial(subject, about, setting.options.permutations))
        for name, value, method in _variants(setting, source):
            about = {**labels, "parameter": name, "value": float(value)}
            trials += [search_trial(subject, about, method, seed) for seed in setting.options.seeds]
    return trials


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """Curves and a table for each data set."""
    keys = ["dataset", "model", "parameter", "value"]
    exact = frames["chance"].select("dataset", "metric", "p_value", exact="gap")
    per_seed = (
        frames["search"]
        .join(exact, on=["dataset", "metric"])
        .filter(pl.col("exact") > 0)
        .group_by(*keys, "seed", maintain_order=True)
        .agg(
            mean_accuracy(),
            (pl.col("users") / pl.col("n_users")).mean().alias("share"),
            pl.col("users").mean(),
            pl.col("seconds").first(),
        )
    )
    rows = per_seed.group_by(keys, maintain_order=True).agg(
        pl.col("accuracy").mean(),
        pl.col("accuracy").std().alias("accuracy_sd"),
        pl.col("users", "share", "seconds").mean(),
        pl.col("seconds").std().alias("seconds_sd"),
    )
    columns: list[layout.Column] = [
        ("parameter", layout.text("parameter")),
        ("value", lambda row: f"{row['value']:g}"),
        ("accuracy", layout.percent_spread("accuracy", "accuracy_sd")),
        ("users scored", layout.count("users")),
        ("of all", layout.percent("share", 0)),
        ("seconds", layout.spread("seconds", "seconds_sd")),
    ]
    tables, drawings = [], []
    for source in setting.sources:
        part = rows.filter(dataset=source.name)
        model = layout.model_title(part.row(0, named=True))
        title = f"dpso by its hyper-parameters: {source.title}, {model}"
        known = exact.filter(pl.col("dataset") == source.name).drop_nulls("p_value")
        chance = ", ".join(
            f"{metric} {p:.3f}" for metric, p in known.select("metric", "p_value").iter_rows()
        )
        note = (
            "Mean over metrics, spread over seeds; the other parameter keeps its default. "
            f"p-values of the exact gaps against chance: {chance}."
        )
        tables.append(layout.table(f"hyper-{source.name}", title, part, columns, note))
        chart = hyper_curves(part, title, ADVICE[has_few(source)])
        drawings.append(Drawing(f"hyper-{source.name}", title, chart))
    notes = ("Shaded: what the paper suggests for that number of combinations.",)
    return Outcome(tuple(tables), tuple(drawings), notes)


EXPERIMENT = Experiment(
    name="figure-hyper",
    label="Figure 6",
    title="Accuracy and time over epsilon and iterations",
    datasets=tuple(TITLES),
    plan=plan,
    outcome=outcome,
)
