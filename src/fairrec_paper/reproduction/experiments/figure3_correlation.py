"""Figure 3: how the gaps of two metrics go together over the models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairrec.report.figures.metric_correlation import correlation_map
from fairrec.report.figures.still import still
from fairrec.report.page.chart_view import Correlation, CorrelationCell
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import published_exact
from fairrec_paper.reproduction.data_source import TITLES
from fairrec_paper.reproduction.experiment import Experiment, Frames, Setting
from fairrec_paper.reproduction.outcome import Drawing, Outcome, OutcomeTable
from fairrec_paper.reproduction.space import MIN_SUPPORT
from fairrec_paper.reproduction.trials.chance import POOLED, chance_trial
from fairrec_paper.reproduction.trials.trial import Trial

if TYPE_CHECKING:
    import altair as alt

FEWEST_MODELS = 3
"""Two points are always on a line."""
CELL_WIDTH = 66


def plan(setting: Setting) -> list[Trial]:
    """The exact gaps of every model on every data set."""
    return [
        chance_trial(subject, {**labels, "min_support": MIN_SUPPORT}, setting.options.permutations)
        for subject, labels in setting.subjects()
    ]


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


def outcome(setting: Setting, frames: Frames) -> Outcome:
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
            ("metric", layout.text("row")),
            ("against", layout.text("column")),
            ("correlation", layout.fixed("correlation", 2)),
            ("published", layout.fixed("published", 2)),
        ]
        title = f"Correlation of gaps: {where}"
        tables += [
            layout.table(f"correlation-{source.name}", title, both, columns, "", 2),
            _gaps(f"gaps-{source.name}", f"Exact gaps: {source.title}", exact),
        ]
    notes = (
        "Each correlation is over as many points as there are models. With four, it is significant "
        "at the 5% level only above 0.95 or below -0.95 (t-test with 2 degrees of freedom).",
        "Published maps are computed from the Themis rows of the paper's Table 2.",
    )
    return Outcome(tuple(tables), tuple(drawings), notes)


def _gaps(name: str, title: str, exact: pl.DataFrame) -> OutcomeTable:
    rows = exact.drop("by_chance")
    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("metric", layout.text("metric")),
        ("gap", layout.figure("gap")),
        ("chance: mean", layout.figure("chance_mean")),
        ("95%", layout.figure("chance_q95")),
        ("p", layout.p_value()),
        ("users scored", layout.count("n_users")),
    ]
    return layout.table(name, title, rows, columns, "", 2)


EXPERIMENT = Experiment(
    name="figure-correlation",
    label="Figure 3",
    title="Correlation between the gaps of metrics over models",
    datasets=tuple(TITLES),
    plan=plan,
    outcome=outcome,
)
