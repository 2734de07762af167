"""Figures 2, 3 and 4: initial positions, correlation of metrics, vanilla swarms."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray
from fairrec.report.page.figures import correlation_map
from fairrec.report.page.view import Correlation, CorrelationCell
from fairrec_paper.figures import grouped_bars, initial_positions, still
from fairrec_paper.reproduction import layout, methods
from fairrec_paper.reproduction.comparison import SUBJECT, published, published_exact
from fairrec_paper.reproduction.data import TITLES, DataSource
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting, Trial
from fairrec_paper.reproduction.layout import Drawing, Outcome
from fairrec_paper.reproduction.methods import DPSO, POOLED, WAYS, ByDataset, chance_trial

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
    pairs = sorted(
        combinations(range(len(names)), 2), key=lambda p: len(values[p[0]]) * len(values[p[1]])
    )
    small = [p for p in pairs if len(values[p[0]]) * len(values[p[1]]) <= MOST_SQUARES]
    pair = (small or pairs[:1])[-1]
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
    needs_models=False,
)


FEWEST_MODELS = 3
"""Two points are always on a line."""
CELL_WIDTH = 66


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
    cells = tuple(
        CorrelationCell(
            row["row"],
            row["column"],
            row["correlation"],
            "-" if row["correlation"] is None else f"{row['correlation']:.2f}",
        )
        for row in rows.to_dicts()
    )
    metrics = tuple(rows["row"].unique(maintain_order=True))
    figure = correlation_map(Correlation(metrics, cells, f"{title}: {where}"))
    # the picture grows to what its title needs; a fixed width would cut it off
    chart = figure.chart().properties(width=CELL_WIDTH * len(metrics), autosize="pad")
    return still(chart, title, [where])


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
        tables += [
            layout.table(f"correlation-{source.name}", title, both, columns, "", 2),
            layout.table(
                f"gaps-{source.name}",
                f"Exact gaps: {source.title}",
                exact.drop("by_chance"),
                ["model", "metric", "gap", *layout.CHANCE, "p_value", "n_users"],
                n_labels=2,
            ),
        ]
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
