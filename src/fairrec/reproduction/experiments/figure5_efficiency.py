"""Figure 5: time over the number of users and of groups."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from fairrec.datasets.shapes import shaped_like
from fairrec.datasets.world_options import WorldOptions
from fairrec.report.figures.efficiency_contour import side_by_side
from fairrec.reproduction import layout
from fairrec.reproduction.comparison import mean_accuracy
from fairrec.reproduction.data_catalogue import fewer_values, world_source
from fairrec.reproduction.experiment import Experiment, Frames, Setting
from fairrec.reproduction.methods import (
    ADAPTIVE_TENTH,
    DPSO,
    EXACT,
    THEMIS,
    for_setting,
    large_groups,
)
from fairrec.reproduction.outcome import Drawing, Outcome, OutcomeTable
from fairrec.reproduction.published import published
from fairrec.reproduction.space import MIN_SUPPORT
from fairrec.reproduction.trials.chance import chance_trial
from fairrec.reproduction.trials.searches import search_trial
from fairrec.reproduction.trials.trial import Trial

SHAPE = "lfm360k"
USERS = (20_000, 40_000, 70_000, 100_000)
GROUPS = ((50, 100), (80, 125), (100, 150), (100, 200))
"""Values of age and of country; with two genders 10,000 to 40,000 combinations."""
QUICK_USERS, QUICK_GROUPS = (150, 300), ((4, 5), (6, 8))
METHODS = (THEMIS, large_groups(0.005), DPSO, EXACT, ADAPTIVE_TENTH)
MADE_FOR = "Synthetic worlds of the shape of LFM360K, ranked by popularity and taste"


def world(n_users: int, n_ages: int, n_countries: int, seed: int = 0) -> WorldOptions:
    """A world with so many users and values; the most frequent values of the shape are kept."""
    shape = shaped_like(SHAPE, seed=seed)
    attributes = fewer_values(shape, {"age": n_ages, "country": n_countries})
    # time depends on users, candidates and groups: fewer items and interactions only make the
    # world sooner
    return replace(
        shape, n_users=n_users, attributes=attributes, n_items=5000, interactions=8, n_categories=40
    )


def plan(setting: Setting) -> list[Trial]:
    """Every method in every world, once."""
    quick = setting.options.quick
    trials = []
    for n_users in QUICK_USERS if quick else USERS:
        for n_ages, n_countries in QUICK_GROUPS if quick else GROUPS:
            options = world(n_users, n_ages, n_countries, setting.options.seed)
            source = world_source(SHAPE, options, setting.scratch, setting.progress)
            subject = setting.subject(source, "taste")
            labels = {
                "dataset": source.key,
                "model": "taste",
                "n_world": n_users,
                "groups": 2 * n_ages * n_countries,
            }
            about = {**labels, "min_support": MIN_SUPPORT}
            trials.append(chance_trial(subject, about, setting.options.permutations))
            methods = [for_setting(method, setting) for method in METHODS]
            trials += [search_trial(subject, labels, method, 0) for method in methods]
    return trials


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """Contours of seconds and of users scored, and both as a table."""
    exact = frames["chance"].select("dataset", "metric", "p_value", "n_groups", exact="gap")
    rows = (
        frames["search"]
        .join(exact, on=["dataset", "metric"])
        .group_by("n_world", "groups", "method", maintain_order=True)
        .agg(
            pl.col("n_groups").first(),
            mean_accuracy(),
            pl.col("users_together", "seconds").first(),
            pl.col("p_value").min().alias("smallest_p"),
        )
        .rename({"n_world": "users"})
    )
    columns: list[layout.Column] = [
        ("method", layout.text("method")),
        ("users", layout.count("users")),
        ("combinations", layout.count("groups")),
        ("groups with enough users", layout.count("n_groups")),
        ("seconds", layout.figure("seconds")),
        ("users scored", layout.count("users_together")),
        ("accuracy", layout.percent("accuracy")),
        ("smallest p", layout.p_value("smallest_p")),
    ]
    note = (
        "Seconds of the whole test of five metrics: scoring by popularity and taste, metrics and "
        "search. The attributes have no effect in these worlds, so every gap is chance."
    )
    title = f"Time over users and groups. {MADE_FOR}"
    tables = (
        layout.table("efficiency", title, rows, columns, note),
        _growth(rows),
    )
    by_users = rows.with_columns(seconds=pl.col("users_together").cast(pl.Float64))
    drawings = (
        Drawing("seconds", title, side_by_side(rows, title, "seconds")),
        Drawing(
            "users",
            f"Users scored. {MADE_FOR}",
            side_by_side(by_users, f"Users scored. {MADE_FOR}", "users scored"),
        ),
    )
    return Outcome(tables, drawings)


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
        ("method", layout.text("method")),
        ("users", layout.count("users")),
        ("combinations", layout.count("groups")),
        ("seconds", layout.figure("seconds")),
        ("published", layout.figure("published")),
        ("users scored", layout.count("users_together")),
    ]
    title = f"The simplest and the largest world. {MADE_FOR}"
    return layout.table("ends", title, data, columns, "Published: of DCN.")


EXPERIMENT = Experiment(
    name="figure-efficiency",
    label="Figure 5",
    title="Time of the methods over users and groups",
    datasets=(),
    plan=plan,
    outcome=outcome,
    needs_models=False,
    made_for=MADE_FOR,
)
