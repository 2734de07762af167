"""Figure 4: the double-ended discrete swarms of FairRec against simpler ones."""

from __future__ import annotations

import polars as pl

from fairrec_paper.figures.grouped_bars import grouped_bars
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import SUBJECT, compared_gaps
from fairrec_paper.reproduction.data_source import TITLES
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting
from fairrec_paper.reproduction.gap_tables import gap_table
from fairrec_paper.reproduction.methods import (
    DPSO,
    NO_DESIGNS,
    ONE_DESIGN_OFF,
    PLAIN_PSO,
    PSO,
    ByDataset,
    method_trials,
)
from fairrec_paper.reproduction.outcome import Drawing, Outcome
from fairrec_paper.reproduction.published import published
from fairrec_paper.reproduction.rank_test import rank_test
from fairrec_paper.reproduction.trials.trial import Trial

OPPONENTS = (NO_DESIGNS, PLAIN_PSO, PSO, *ONE_DESIGN_OFF)
IN_FIGURE = tuple(method.title for method in (NO_DESIGNS, PLAIN_PSO, PSO))
"""Any of which may be meant by vanilla; the others have a single design less than dpso."""
ALPHA = 0.05


def _methods(setting: Setting) -> ByDataset:
    return {source.name: [*OPPONENTS, DPSO] for source in setting.sources}


def plan(setting: Setting) -> list[Trial]:
    """All kinds of swarms on every subject, and the null distributions."""
    return method_trials(setting, _methods(setting))


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
    rows = []
    for dataset in search["dataset"].unique(maintain_order=True):
        for opponent in OPPONENTS:
            both = _both(search.filter(dataset=dataset), opponent.title)
            if both.height:
                rows.append({"dataset": dataset, "opponent": opponent.title, **_gain(both)})
    return pl.DataFrame(rows)


def _both(search: pl.DataFrame, opponent: str) -> pl.DataFrame:
    keys = [*SUBJECT, "metric", "seed"]
    others = search.filter(method=opponent)
    return search.filter(method=DPSO.title).join(others, on=keys, suffix="_other")


def _gain(both: pl.DataFrame) -> dict[str, float | int | None]:
    cases = (
        both.group_by(*SUBJECT, "metric")
        .agg(pl.col("gap", "gap_other").mean())
        .filter(pl.col("gap_other") > 0)
    )
    gains = (
        both.filter(pl.col("gap_other") > 0)
        .group_by("seed")
        .agg((pl.col("gap") / pl.col("gap_other") - 1).mean())
    )
    tests = [
        rank_test(case["gap"].to_numpy(), case["gap_other"].to_numpy())
        for case in both.partition_by(*SUBJECT, "metric")
    ]
    differs = [test.a12 > 0.5 for test in tests if test.p_value <= ALPHA]
    return {
        "larger_gap": _mean(cases["gap"] / cases["gap_other"] - 1),
        "larger_gap_sd": _sd(gains["gap"]),
        "a12": sum(test.a12 for test in tests) / len(tests),
        "larger": sum(differs),
        "smaller": len(differs) - sum(differs),
        "cases": len(tests),
        "longer_time": _mean(both["seconds"] / both["seconds_other"] - 1),
        "more_users": _mean(both["users"] / both["users_other"] - 1),
        "more_combinations": _mean(both["combinations"] / both["combinations_other"] - 1),
    }


def _mean(values: pl.Series) -> float | None:
    finite = values.filter(values.is_finite())
    return float(finite.to_numpy().mean()) if len(finite) else None


def _sd(values: pl.Series) -> float | None:
    return float(values.to_numpy().std(ddof=1)) if len(values) > 1 else None


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
        ("opponent", layout.text("opponent")),
        ("larger gap", layout.percent_spread("larger_gap", "larger_gap_sd")),
        ("published", layout.percent("published_gap")),
        ("A12", layout.figure("a12")),
        ("cases larger", layout.count("larger")),
        ("smaller", layout.count("smaller")),
        ("of", layout.count("cases")),
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
    tables = [layout.table("improvement", title, rows, columns, note, 2)]
    for dataset, methods in _methods(setting).items():
        search = frames["search"].filter(dataset=dataset)
        chance = frames["chance"].filter(dataset=dataset)
        gaps = compared_gaps(search, chance, methods, "table2")
        where = setting.title_of(dataset)
        tables.append(gap_table(f"gaps-{dataset}", f"Gaps: {where}", gaps, chance, methods))
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
    return Outcome(tuple(tables), (Drawing("improvement", title, chart),))


EXPERIMENT = Experiment(
    name="figure-vanilla",
    label="Figure 4",
    title="FairRec's swarms against simpler ones",
    datasets=tuple(TITLES),
    plan=plan,
    outcome=outcome,
)
