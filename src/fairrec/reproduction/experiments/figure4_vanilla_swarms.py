"""Figure 4: the double-ended discrete swarms of FairRec against plain ones."""

from __future__ import annotations

import polars as pl

from fairrec.report.figures.grouped_bars import grouped_bars
from fairrec.reproduction import layout
from fairrec.reproduction.comparison import SUBJECT, compared_gaps
from fairrec.reproduction.data_source import TITLES
from fairrec.reproduction.experiment import Experiment, Frames, Setting
from fairrec.reproduction.gap_tables import gap_table
from fairrec.reproduction.methods import DPSO, PSO, ByDataset, method_trials
from fairrec.reproduction.outcome import Drawing, Outcome
from fairrec.reproduction.published import published
from fairrec.reproduction.trials.trial import Trial


def _methods(setting: Setting) -> ByDataset:
    return {source.name: [PSO, DPSO] for source in setting.sources}


def plan(setting: Setting) -> list[Trial]:
    """Both kinds of swarms on every subject, and the null distributions."""
    return method_trials(setting, _methods(setting))


def improvements(search: pl.DataFrame) -> pl.DataFrame:
    """`dataset, larger_gap, larger_gap_sd, longer_time, more_users, cases`: of dpso over pso.

    The gain of each case (model and metric) is that of the mean gap over seeds, and the spread is
    over seeds, of the mean gain over cases with a gap in both.
    """
    keys = [*SUBJECT, "metric", "seed"]
    both = search.filter(method=DPSO.title).join(
        search.filter(method=PSO.title), on=keys, suffix="_pso"
    )
    rows = []
    for dataset in both["dataset"].unique(maintain_order=True):
        part = both.filter(dataset=dataset)
        cases = (
            part.group_by(*SUBJECT, "metric")
            .agg(pl.col("gap", "gap_pso").mean())
            .filter(pl.col("gap_pso") > 0)
        )
        gains = (
            part.filter(pl.col("gap_pso") > 0)
            .group_by("seed")
            .agg((pl.col("gap") / pl.col("gap_pso") - 1).mean())
        )
        rows.append(
            {
                "dataset": dataset,
                "larger_gap": (cases["gap"] / cases["gap_pso"] - 1).mean(),
                "larger_gap_sd": gains["gap"].std(),
                "longer_time": (part["seconds"] / part["seconds_pso"] - 1).mean(),
                "more_users": (part["users"] / part["users_pso"] - 1).mean(),
                "cases": cases.height,
            }
        )
    return pl.DataFrame(rows)


def outcome(setting: Setting, frames: Frames) -> Outcome:
    """The gain in percent, as a chart and a table, and the gaps it comes from."""
    printed = published().filter(experiment="figure-vanilla")
    rows = improvements(frames["search"])
    for metric, name in (("larger gap", "published_gap"), ("longer time", "published_time")):
        known = printed.filter(metric=metric).select(
            "dataset", (pl.col("published") / 100).alias(name)
        )
        rows = rows.join(known, on="dataset", how="left", maintain_order="left")
    rows = setting.with_titles(rows)
    columns: list[layout.Column] = [
        ("data", layout.text("data")),
        ("larger gap", layout.percent_spread("larger_gap", "larger_gap_sd")),
        ("published", layout.percent("published_gap")),
        ("longer time", layout.percent("longer_time")),
        ("published", layout.percent("published_time")),
        ("more users scored", layout.percent("more_users")),
        ("cases", layout.count("cases")),
    ]
    note = "Mean over cases (models and metrics); spread over seeds."
    title = f"FairRec (dpso) over vanilla pso: {setting.title}"
    tables = [layout.table("improvement", title, rows, columns, note)]
    for dataset, methods in _methods(setting).items():
        search = frames["search"].filter(dataset=dataset)
        chance = frames["chance"].filter(dataset=dataset)
        gaps = compared_gaps(search, chance, methods, "table2")
        where = setting.title_of(dataset)
        tables.append(gap_table(f"gaps-{dataset}", f"Gaps: {where}", gaps, chance, methods))
    bars = pl.concat(
        [
            rows.select("data", value="larger_gap", series=pl.lit("here")),
            rows.select("data", value="published_gap", series=pl.lit("published")),
        ]
    )
    chart = grouped_bars(
        bars, "Larger gap found by FairRec (dpso) than by vanilla pso", "larger by"
    )
    return Outcome(tuple(tables), (Drawing("improvement", title, chart),))


EXPERIMENT = Experiment(
    name="figure-vanilla",
    label="Figure 4",
    title="FairRec's swarms against vanilla pso",
    datasets=tuple(TITLES),
    plan=plan,
    outcome=outcome,
)
