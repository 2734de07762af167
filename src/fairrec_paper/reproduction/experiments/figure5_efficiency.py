"""Figure 5: time over the number of groups and of users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from fairrec.demo.world_options import WorldOptions
from fairrec.report.words import number
from fairrec_paper.datasets.shapes import shaped_like
from fairrec_paper.figures.efficiency_contour import side_by_side
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import SUBJECT, mean_accuracy
from fairrec_paper.reproduction.data_catalogue import fewer_values, world_source
from fairrec_paper.reproduction.data_source import DataSource
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting
from fairrec_paper.reproduction.methods import (
    ADAPTIVE_TENTH,
    DPSO,
    EXACT,
    THEMIS,
    for_setting,
    large_groups,
)
from fairrec_paper.reproduction.options import MODEL_TITLES
from fairrec_paper.reproduction.outcome import Drawing, Outcome, OutcomeTable
from fairrec_paper.reproduction.published import published
from fairrec_paper.reproduction.space import MIN_SUPPORT
from fairrec_paper.reproduction.subject import Subject
from fairrec_paper.reproduction.trials.chance import chance_trial
from fairrec_paper.reproduction.trials.searches import search_trial
from fairrec_paper.reproduction.trials.trial import Trial

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


def plan(setting: Setting) -> list[Trial]:
    """Every method on every model in every world, with every seed."""
    quick = setting.options.quick
    trials = []
    for n_users in QUICK_USERS if quick else USERS:
        for n_ages, n_countries in QUICK_GROUPS if quick else GROUPS:
            options = world(n_users, n_ages, n_countries, setting.options.seed)
            source = world_source(SHAPE, options, setting.scratch, setting.progress)
            size = {"n_world": n_users, "groups": 2 * n_ages * n_countries}
            for model in models(setting):
                labels = {"dataset": source.key, "model": model, **size}
                trials += _tests(setting, _subject(setting, source, model), labels)
    return trials


def _subject(setting: Setting, source: DataSource, model: str) -> Subject:
    """The model in a world; one epoch is enough, as the time does not depend on what it learned."""
    subject = setting.subject(source, model)
    return replace(subject, training=replace(subject.training, epochs=1))


def _tests(setting: Setting, subject: Subject, labels: Mapping[str, Any]) -> list[Trial]:
    """The exact gaps, and every method with every seed."""
    about = {**labels, "min_support": MIN_SUPPORT}
    methods = [for_setting(method, setting) for method in METHODS]
    return [
        chance_trial(subject, about, setting.options.permutations),
        *(
            search_trial(subject, labels, method, seed)
            for method in methods
            for seed in setting.options.seeds
        ),
    ]


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """Contours of seconds and of users scored for each model, and both as a table."""
    rows = measured(frames["search"], frames["chance"])
    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("method", layout.text("method")),
        ("users", layout.count("users")),
        ("combinations", layout.count("groups")),
        ("groups with enough users", layout.count("n_groups")),
        ("seconds", _seconds),
        ("users scored", layout.count("users_together")),
        ("accuracy", layout.percent("accuracy")),
        ("smallest p", layout.p_value("smallest_p")),
    ]
    n_seeds = len(setting.options.seeds)
    note = (
        "Seconds of the whole test of five metrics (scoring, metrics and search): median of "
        f"{n_seeds} tests with different seeds, and the shortest and longest. The attributes have "
        "no effect in these worlds, so every gap is chance."
    )
    title = f"Time over groups and users. {MADE_FOR}"
    tables = (layout.table("efficiency", title, rows, columns, note, 2), _growth(rows))
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
    return Outcome(tables, tuple(drawings), NOTES)


def measured(search: pl.DataFrame, chance: pl.DataFrame) -> pl.DataFrame:
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


def _seconds(row: layout.ShownRow) -> str:
    """The median and the range of repetitions."""
    middle, least, most = (number(row[f"seconds{end}"]) for end in ("", "_least", "_most"))
    return f"{middle} ({least} to {most})"


def _growth(rows: pl.DataFrame) -> OutcomeTable:
    """The simplest and the largest world, where the paper gives its times."""
    size = pl.col("users") * pl.col("groups")
    ends = rows.filter((size == size.min()) | (size == size.max()))
    names = {THEMIS.title: "themis", DPSO.title: "fairrec"}
    known = {
        (row["dataset"], row["method"]): row["published"]
        for row in published().filter(experiment="figure-efficiency").to_dicts()
    }
    data = ends.with_columns(
        pl.Series(
            "published",
            [
                known.get((f"{users} users, {groups} groups", names.get(method, "")))
                for users, groups, method in ends.select("users", "groups", "method").iter_rows()
            ],
            dtype=pl.Float64,
        )
    )
    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("method", layout.text("method")),
        ("users", layout.count("users")),
        ("combinations", layout.count("groups")),
        ("seconds", _seconds),
        ("published", layout.figure("published")),
        ("users scored", layout.count("users_together")),
    ]
    title = f"The simplest and the largest world. {MADE_FOR}"
    note = "Seconds: median of the repetitions, and their range. Published: of DCN."
    return layout.table("ends", title, data, columns, note, 2)


EXPERIMENT = Experiment(
    name="figure-efficiency",
    label="Figure 5",
    title="Time of the methods over groups and users",
    datasets=(),
    plan=plan,
    outcome=outcome,
    made_for=MADE_FOR,
)
