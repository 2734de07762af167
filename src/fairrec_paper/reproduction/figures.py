"""Figures 2 to 6: initial positions, correlation, vanilla swarms, efficiency, hyper-parameters."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray
from fairrec.demo.world_options import WorldOptions
from fairrec.report.words import number
from fairrec.search.searchers.swarms import FEW_COMBINATIONS
from fairrec_paper.datasets.synthetic import shaped_like
from fairrec_paper.figures import (
    correlation_map,
    grouped_bars,
    hyper_curves,
    initial_positions,
    side_by_side,
    still,
)
from fairrec_paper.reproduction import layout, methods
from fairrec_paper.reproduction.data import TITLES, DataSource, fewer_values, world_source
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting, Trial
from fairrec_paper.reproduction.gaps import (
    SUBJECT,
    mean_accuracy,
    mean_and_sd,
    published,
    published_exact,
)
from fairrec_paper.reproduction.layout import Drawing, Outcome
from fairrec_paper.reproduction.methods import (
    ADAPTIVE_TENTH,
    DPSO,
    EXACT,
    POOLED,
    THEMIS,
    WAYS,
    ByDataset,
    chance_trial,
    for_setting,
    large_groups,
    search_trial,
)
from fairrec_paper.reproduction.options import MODEL_TITLES

if TYPE_CHECKING:
    import altair as alt


MOST_SQUARES = 1500
"""A map with more than these cannot be read."""


def plan_positions(setting: Setting) -> list[Trial]:
    """Swarms of both kinds, for every data set and seed."""
    return [
        methods.particle_trial(source, way, seed)
        for source in setting.sources
        for way in WAYS
        for seed in setting.options.seeds
    ]


def report_positions(setting: Setting, frames: Frames) -> Outcome:
    """Where particles begin, as maps and as shares."""
    rows = setting.with_titles(
        frames["particles"]
        .group_by("dataset", "way", maintain_order=True)
        .agg(
            pl.col("n_particles", "n_combinations", "n_groups").first(),
            pl.col("on_users", "on_groups", "groups_seen").mean(),
            pl.col("on_groups").std().alias("on_groups_sd"),
        )
    )
    columns: list[layout.Column] = [
        *("data", ("particles begin", layout.text("way"))),
        *(("particles", layout.count("n_particles")), "n_combinations"),
        ("with any user", layout.percent("on_users")),
        ("with enough users", layout.percent_spread("on_groups")),
        ("groups seen at once", layout.count("groups_seen")),
        ("of", layout.count("n_groups")),
    ]
    note = (
        "Shares of the particles of one swarm that begin at a combination that some user has, and "
        "at one with at least 0.1% of the users; mean and spread over seeds. No user is scored."
    )
    title = f"Where swarms begin: {setting.title}"
    table = layout.table("particles", title, rows, columns, note, 2)
    drawings = tuple(_drawing(source) for source in setting.sources)
    return Outcome((table,), drawings)


def _drawing(source: DataSource) -> Drawing:
    """The two attributes with most squares that can still be read."""
    space, values = methods.read_space(source)
    names = source.bundle.manifest.attributes
    squares = {
        pair: len(values[pair[0]]) * len(values[pair[1]])
        for pair in combinations(range(len(names)), 2)
    }
    pair = max(squares, key=lambda one: (squares[one] <= MOST_SQUARES) * squares[one])
    positions = {way: methods.first_positions(space, way, seed=0) for way in WAYS}
    counts = [_counts(positions[way], pair, values).with_columns(way=pl.lit(way)) for way in WAYS]
    users = _counts(space.cells.codes[:, space.cells.of_user].T, pair, values).rename(
        {"particles": "users"}
    )
    chart = initial_positions(users, pl.concat(counts), (names[pair[0]], names[pair[1]]))
    title = f"Where {len(positions['uniform']):,} particles begin: {source.title}"
    return Drawing(f"particles-{source.name}", title, still(chart, title))


def _counts(positions: AnyArray, pair: tuple[int, int], values: list[list[str]]) -> pl.DataFrame:
    """`first, second, particles`, one row for every two values, also those nobody has."""
    first, second = (values[at] for at in pair)
    counted = np.zeros((len(first), len(second)), dtype=np.int64)
    np.add.at(counted, (positions[:, pair[0]], positions[:, pair[1]]), 1)
    return pl.DataFrame(
        {
            "first": np.repeat(first, len(second)),
            "second": np.tile(second, len(first)),
            "particles": counted.ravel(),
        }
    )


INITIAL_POSITIONS_EXPERIMENT = Experiment(
    name="figure-initialise",
    label="Figure 2",
    title="Uniform against distribution-based particles",
    datasets=tuple(TITLES),
    plan=plan_positions,
    outcome=report_positions,
)


FEWEST_MODELS = 3
"""Two points are always on a line."""


def plan_correlation(setting: Setting) -> list[Trial]:
    """The exact gaps of every model on every data set."""
    return [chance_trial(subject, setting.options.permutations) for subject in setting.subjects()]


def correlations(gaps: pl.DataFrame) -> pl.DataFrame:
    """`row, column, correlation` of every two metrics over the models.

    Null where fewer than three models have both, or one does not vary.

    Parameters
    ----------
    gaps : `model, metric, gap`
    """
    metrics = gaps["metric"].unique(maintain_order=True).to_list()
    wide = gaps.pivot("metric", index="model", values="gap")
    rows = []
    for first in metrics:
        for second in metrics:
            both = wide.select(pl.col(first).alias("a"), pl.col(second).alias("b")).drop_nulls()
            a, b = both["a"].to_numpy(), both["b"].to_numpy()
            varies = len(a) >= FEWEST_MODELS and min(np.ptp(a), np.ptp(b)) > 0
            value = float(np.corrcoef(a, b)[0, 1]) if varies else None
            rows.append({"row": first, "column": second, "correlation": value})
    return pl.DataFrame(rows, schema_overrides={"correlation": pl.Float64})


def _map(rows: pl.DataFrame, title: str, where: str) -> alt.TopLevelMixin:
    return still(correlation_map(rows), title, [where])


def report_correlation(setting: Setting, frames: Frames) -> Outcome:
    """A map and a table for each data set, ours and the published one."""
    drawings, tables = [], []
    for source in setting.sources:
        exact = frames["chance"].filter(
            pl.col("dataset") == source.name, pl.col("metric") != POOLED
        )
        ours = correlations(exact.select("model", "metric", "gap"))
        known = published_exact().filter(
            pl.col("dataset") == source.name, pl.col("metric") != POOLED
        )
        printed = correlations(known.select("model", "metric", gap="published"))
        n_models = exact["model"].n_unique()
        where = f"{source.title}, {n_models} models"
        paper = f"{TITLES[source.name]}, 4 models"
        for name, rows, title, whose in (
            (f"correlation-{source.name}", ours, "Correlation of gaps", where),
            (f"correlation-{source.name}-published", printed, "Published gaps of Themis", paper),
        ):
            drawings.append(Drawing(name, f"{title}: {whose}", _map(rows, title, whose)))
        both = ours.join(
            printed.rename({"correlation": "published"}), on=["row", "column"], how="left"
        ).filter(pl.col("row") < pl.col("column"))
        columns: list[layout.Column] = [
            *(("metric", layout.text("row")), ("against", layout.text("column"))),
            ("correlation", layout.fixed("correlation", 2)),
            ("published", layout.fixed("published", 2)),
        ]
        title = f"Correlation of gaps: {where}"
        tables.append(
            layout.table(f"correlation-{source.name}", title, both, columns, "", 2),
        )
    notes = (
        "Each correlation is over as many points as there are models. With four, it is significant "
        "at the 5% level only above 0.95 or below -0.95 (t-test with 2 degrees of freedom).",
        "Published maps are computed from the Themis rows of the paper's Table 2.",
    )
    return Outcome(tuple(tables), tuple(drawings), notes)


CORRELATION_EXPERIMENT = Experiment(
    name="figure-correlation",
    label="Figure 3",
    title="Correlation between the gaps of metrics over models",
    datasets=tuple(TITLES),
    plan=plan_correlation,
    outcome=report_correlation,
)


OPPONENTS = (methods.NO_DESIGNS, methods.PLAIN_PSO, methods.PSO, *methods.ONE_DESIGN_OFF)
IN_FIGURE = tuple(method.title for method in (methods.NO_DESIGNS, methods.PLAIN_PSO, methods.PSO))
"""Any of which may be meant by vanilla; the others have a single design less than dpso."""
ALPHA = 0.05


def _methods(setting: Setting) -> ByDataset:
    return {source.name: [*OPPONENTS, DPSO] for source in setting.sources}


def plan_vanilla(setting: Setting) -> list[Trial]:
    """All kinds of swarms on every subject, and the null distributions."""
    return methods.method_trials(setting, _methods(setting))


def improvements(search: pl.DataFrame) -> pl.DataFrame:
    """What dpso gains over each opponent on each data set.

    Returns
    -------
    `dataset, opponent, larger_gap, larger_gap_sd, a12, larger, smaller, cases, longer_time,
    more_users, more_combinations`. The gain of each case (model and metric) is that of the mean
    gap over seeds, and the spread is over seeds, of the mean gain over cases with a gap in both.
    `a12` is the mean over cases; `larger` and `smaller` count the cases in which the gaps differ
    by the test of Mann and Whitney (p <= 0.05, each case by itself)
    """
    ours = search.filter(method=DPSO.title)
    both = ours.join(search, on=[*SUBJECT, "metric", "seed"], suffix="_other")
    rows = []
    for dataset in search["dataset"].unique(maintain_order=True):
        for opponent in OPPONENTS:
            part = both.filter(dataset=dataset, method_other=opponent.title)
            if part.height:
                rows.append({"dataset": dataset, "opponent": opponent.title, **_gain(part)})
    return pl.DataFrame(rows)


def _gain(both: pl.DataFrame) -> dict[str, float | int | None]:
    cases = both.group_by(*SUBJECT, "metric").agg(pl.col("gap", "gap_other").mean())
    gains = both.filter(pl.col("gap_other") > 0).group_by("seed").agg(_more("gap").mean())
    tests = [
        methods.rank_test(case["gap"].to_numpy(), case["gap_other"].to_numpy())
        for case in both.partition_by(*SUBJECT, "metric")
    ]
    differs = [test.a12 > 0.5 for test in tests if test.p_value <= ALPHA]
    return {
        "larger_gap": _mean(cases, "gap"),
        "larger_gap_sd": gains.select(pl.col("gap").std()).item(),
        "a12": sum(test.a12 for test in tests) / len(tests),
        "larger": sum(differs),
        "smaller": len(differs) - sum(differs),
        "cases": len(tests),
        "longer_time": _mean(both, "seconds"),
        "more_users": _mean(both, "users"),
        "more_combinations": _mean(both, "combinations"),
    }


def _more(column: str) -> pl.Expr:
    return pl.col(column) / pl.col(f"{column}_other") - 1


def _mean(both: pl.DataFrame, column: str) -> float | None:
    """The mean of how much more it is, where the other is not 0."""
    more = both.select(_more(column)).to_series()
    mean = more.filter(more.is_finite()).mean()
    return mean if isinstance(mean, float) else None


def report_vanilla(setting: Setting, frames: Frames) -> Outcome:
    """The gain in percent, as a chart and a table."""
    printed = published().filter(experiment="figure-vanilla")
    rows = improvements(frames["search"])
    for metric, name in (("larger gap", "published_gap"), ("longer time", "published_time")):
        known = printed.filter(metric=metric).select(
            "dataset", pl.col("published").alias(name) / 100
        )
        rows = rows.join(known, on="dataset", how="left", maintain_order="left")
    rows = setting.with_titles(rows)
    columns: list[layout.Column] = [
        *("data", ("opponent", layout.text("opponent"))),
        ("larger gap", layout.percent_spread("larger_gap")),
        ("published", layout.percent("published_gap")),
        *(("A12", layout.figure("a12")), ("cases larger", layout.count("larger"))),
        *(("smaller", layout.count("smaller")), ("of", layout.count("cases"))),
        ("longer time", layout.percent("longer_time")),
        ("published", layout.percent("published_time")),
        ("more users scored", layout.percent("more_users")),
        ("more combinations queried", layout.percent("more_combinations")),
    ]
    note = (
        "Mean over cases (models and metrics); spread over seeds. A12: how often a search of dpso "
        "finds more than one of the opponent, 0.5 for neither. Cases in which it finds a larger or "
        "a smaller gap by the test of Mann and Whitney, p <= 0.05, each case by itself. "
        f"{setting.options.n_seeds} seeds. The published gain does not say which swarms it is over."
    )
    title = f"FairRec (dpso) over simpler swarms: {setting.title}"
    table = layout.table("improvement", title, rows, columns, note, 2)
    shown = rows.filter(pl.col("opponent").is_in(IN_FIGURE))
    bars = pl.concat(
        [
            shown.select("data", value="larger_gap", series="opponent"),
            shown.unique("data", keep="first", maintain_order=True).select(
                "data", value="published_gap", series=pl.lit("published")
            ),
        ]
    )
    chart = grouped_bars(bars, "Larger gap found by FairRec (dpso) than by", "larger by")
    return Outcome((table,), (Drawing("improvement", title, chart),))


VANILLA_SWARMS_EXPERIMENT = Experiment(
    name="figure-vanilla",
    label="Figure 4",
    title="FairRec's swarms against simpler ones",
    datasets=tuple(TITLES),
    plan=plan_vanilla,
    outcome=report_vanilla,
)


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
    "methods, from blue for little to red for much. The paper does not say whether its scales are "
    "shared.",
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
    exact = frames["chance"].select("dataset", "metric", exact="gap")
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
        note = "Mean over metrics, spread over seeds; the other parameter keeps its default."
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
