"""Figures 5 and 6: efficiency and hyper-parameters of the search."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl

from fairrec.demo.world_options import WorldOptions
from fairrec.report.words import number
from fairrec.search.searchers.swarms import FEW_COMBINATIONS
from fairrec_paper.datasets.synthetic import shaped_like
from fairrec_paper.figures import hyper_curves, side_by_side
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import SUBJECT, mean_accuracy, mean_and_sd, published
from fairrec_paper.reproduction.data import TITLES, DataSource, fewer_values, world_source
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting, Trial
from fairrec_paper.reproduction.layout import Drawing, Outcome
from fairrec_paper.reproduction.methods import (
    ADAPTIVE_TENTH,
    DPSO,
    EXACT,
    THEMIS,
    chance_trial,
    for_setting,
    large_groups,
    search_trial,
)
from fairrec_paper.reproduction.options import MODEL_TITLES

SHAPE = "lfm360k"
USERS = (20_000, 40_000, 70_000, 100_000)
GROUPS = ((50, 100), (80, 125), (100, 150), (100, 200))
"""Values of age and of country; with two genders 10,000 to 40,000 combinations."""
QUICK_USERS, QUICK_GROUPS = (150, 300), ((4, 5), (6, 8))
METHODS = (THEMIS, large_groups(0.005), DPSO, EXACT, ADAPTIVE_TENTH)
MADE_FOR = "Synthetic worlds of the shape of LFM360K"
EFFICIENCY_MODEL = "dcn"
"""Whose times the paper gives."""
NOTES = (
    "As in the paper, groups go to the right and users upwards; one scale of colours for all "
    "methods, from blue for little to red for much. Between the dots, which were measured, the "
    "logarithm is interpolated. The paper does not say whether its scales are shared.",
    "DCN is trained for one epoch in each world: how long it takes to score does not depend on "
    "what it has learned.",
)


def world(n_users: int, n_ages: int, n_countries: int, seed: int = 0) -> WorldOptions:
    """A world with so many users and values; the most frequent values of the shape are kept."""
    shape = shaped_like(SHAPE, seed=seed)
    attributes = fewer_values(shape, {"age": n_ages, "country": n_countries})
    # time depends on users, candidates and groups: fewer items and interactions only make the
    # world sooner
    return replace(
        shape, n_users=n_users, attributes=attributes, n_items=5000, interactions=8, n_categories=40
    )


def models(setting: Setting) -> list[str]:
    """Popularity and taste, and the paper's model where it is among those to test."""
    return ["taste", *(model for model in setting.options.models if model == EFFICIENCY_MODEL)]


def plan_efficiency(setting: Setting) -> list[Trial]:
    """Every method on every model in every world, with every seed."""
    quick = setting.options.quick
    trials = []
    for n_users in QUICK_USERS if quick else USERS:
        for n_ages, n_countries in QUICK_GROUPS if quick else GROUPS:
            options = world(n_users, n_ages, n_countries, setting.options.seed)
            source = world_source(SHAPE, options, setting.scratch, setting.progress)
            size = {"n_world": n_users, "groups": 2 * n_ages * n_countries}
            for model in models(setting):
                labels = {"dataset": source.key, **size}
                subject = setting.subject(source, model)
                # enough, as the time does not depend on what was learned
                one_epoch = replace(subject.training, epochs=1)
                subject = replace(subject, training=one_epoch)
                trials.append(chance_trial(subject, setting.options.permutations, labels))
                trials += [
                    search_trial(subject, for_setting(method, setting), seed, labels)
                    for method in METHODS
                    for seed in setting.options.seeds
                ]
    return trials


def report_efficiency(setting: Setting, frames: Frames) -> Outcome:
    """Contours of seconds and of users scored for each model, and both as a table."""
    rows = with_published_seconds(median_times(frames["search"], frames["chance"]))
    columns: list[layout.Column] = [
        *("model", "method", ("users", layout.count("users"))),
        ("combinations", layout.count("groups")),
        *(("groups with enough users", layout.count("n_groups")), ("seconds", _seconds)),
        "published",
        *(("users scored", layout.count("users_together")), "accuracy"),
        ("smallest p", layout.p_value("smallest_p")),
    ]
    n_seeds = len(setting.options.seeds)
    note = (
        "Seconds of the whole test of five metrics (scoring, metrics and search): median of "
        f"{n_seeds} tests with different seeds, and the shortest and longest. The attributes have "
        "no effect in these worlds, so every gap is chance. Published: seconds of DCN, which the "
        "paper gives for its simplest and its largest world."
    )
    title = f"Time over groups and users. {MADE_FOR}"
    table = layout.table("efficiency", title, rows, columns, note, 2)
    drawings = []
    for model in models(setting):
        own = rows.filter(model=model)
        where = f"{MODEL_TITLES[model]}. {MADE_FOR}"
        for name, column, unit in (
            ("seconds", "seconds", "seconds"),
            ("users", "users_together", "users scored"),
        ):
            shown = own.select("method", "users", "groups", seconds=pl.col(column).cast(pl.Float64))
            heading = f"{unit.capitalize()}: {where}"
            chart = side_by_side(shown, heading, unit)
            drawings.append(Drawing(f"{name}-{model}", heading, chart))
    return Outcome((table,), tuple(drawings), NOTES)


def median_times(search: pl.DataFrame, chance: pl.DataFrame) -> pl.DataFrame:
    """A row for each model, method and world; seconds are a median over seeds, with its range."""
    exact = chance.select(*SUBJECT, "metric", "p_value", "n_groups", exact="gap")
    of_seed = (
        search.join(exact, on=[*SUBJECT, "metric"])
        .group_by("model", "n_world", "groups", "method", "seed", maintain_order=True)
        .agg(
            pl.col("n_groups").first(),
            mean_accuracy(),
            pl.col("users_together", "seconds").first(),
            pl.col("p_value").min().alias("smallest_p"),
        )
        .rename({"n_world": "users"})
    )
    return of_seed.group_by("model", "users", "groups", "method", maintain_order=True).agg(
        pl.col("n_groups").first(),
        pl.col("accuracy").mean(),
        pl.col("users_together").median(),
        pl.col("seconds").median(),
        pl.col("seconds").min().alias("seconds_least"),
        pl.col("seconds").max().alias("seconds_most"),
        pl.col("smallest_p").first(),
    )


def with_published_seconds(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with `published`, the seconds of the two worlds for which the paper gives them."""
    names = {"themis": THEMIS.title, "fairrec": DPSO.title}
    known = published().filter(experiment="figure-efficiency")
    known = known.select("dataset", "published", method=pl.col("method").replace(names))
    world = pl.format("{} users, {} groups", "users", "groups").alias("dataset")
    joined = rows.with_columns(world).join(
        known, on=["dataset", "method"], how="left", maintain_order="left"
    )
    return joined.drop("dataset")


def _seconds(row: layout.ShownRow) -> str:
    """The median and the range of repetitions."""
    middle, least, most = (number(row[f"seconds{end}"]) for end in ("", "_least", "_most"))
    return f"{middle} ({least} to {most})"


EFFICIENCY_EXPERIMENT = Experiment(
    name="figure-efficiency",
    label="Figure 5",
    title="Time of the methods over groups and users",
    datasets=(),
    plan=plan_efficiency,
    outcome=report_efficiency,
    made_for=MADE_FOR,
)


HYPER_MODEL = "deepfm"
"""The paper does not say which."""
GRIDS: dict[bool, dict[str, tuple[float, ...]]] = {
    True: {"epsilon": (0.01, 0.02, 0.05, 0.1, 0.2, 0.4), "iterations": (1, 2, 5, 10, 15, 20)},
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


def plan_hyper(setting: Setting) -> list[Trial]:
    """Searches over both grids, and the exact gaps."""
    trials = []
    for source in setting.sources:
        subject = setting.one_subject(source, HYPER_MODEL)
        trials.append(chance_trial(subject, setting.options.permutations))
        for name, grid in GRIDS[has_few(source)].items():
            for value in grid[::3] if setting.options.quick else grid:
                method = replace(DPSO, title=f"dpso {name}={value:g}", hyper={name: value})
                labels = {"parameter": name, "value": float(value)}
                trials += [
                    search_trial(subject, method, seed, labels) for seed in setting.options.seeds
                ]
    return trials


def report_hyper(setting: Setting, frames: Frames) -> Outcome:
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
        *mean_and_sd("accuracy"), pl.col("users", "share").mean(), *mean_and_sd("seconds")
    )
    columns: list[layout.Column] = [
        ("parameter", layout.text("parameter")),
        ("value", lambda row: f"{row['value']:g}"),
        *("accuracy_sd", "users", "share", "seconds_sd"),
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


HYPER_PARAMETERS_EXPERIMENT = Experiment(
    name="figure-hyper",
    label="Figure 6",
    title="Accuracy and time over epsilon and iterations",
    datasets=tuple(TITLES),
    plan=plan_hyper,
    outcome=report_hyper,
)
