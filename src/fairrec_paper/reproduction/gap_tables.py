"""Tables of what methods found and what it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from fairrec.report.words import number
from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import SUBJECT, published_exact
from fairrec_paper.reproduction.outcome import OutcomeTable
from fairrec_paper.reproduction.space import MIN_SUPPORT
from fairrec_paper.reproduction.trials.chance import POOLED
from fairrec_paper.reproduction.trials.searches import Method

ENUMERATE = ("themis", "exact")
"""Searchers that find the exact gap, which has its own column."""


def gap_table(
    name: str, title: str, gaps: pl.DataFrame, chance: pl.DataFrame, methods: Sequence[Method]
) -> OutcomeTable:
    """A row for each model and metric, and a column for each method.

    Parameters
    ----------
    gaps : as `compared_gaps` gives them, of one data set
    chance : rows of chance trials
    """
    exact = chance.filter(min_support=MIN_SUPPORT)
    found = {
        (row["model"], row["metric"], row["method"]): row for row in gaps.iter_rows(named=True)
    }
    rows = exact.join(published_exact(), on=[*SUBJECT, "metric"], how="left", maintain_order="left")

    def of_method(method: Method) -> layout.Shown:
        def shown(row: layout.ShownRow) -> str:
            return _found(found.get((row["model"], row["metric"], method.title)))

        return shown

    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("metric", layout.text("metric")),
        ("exact gap", layout.figure("gap")),
        ("published", layout.figure("published")),
        ("chance: mean", layout.figure("chance_mean")),
        ("95%", layout.figure("chance_q95")),
        ("p", layout.p_value()),
    ]
    columns += [
        (method.title, of_method(method))
        for method in methods
        if method.searcher not in ENUMERATE or method.users is not None
    ]
    note = (
        f"{about_groups(chance)} In brackets: published. Spread over seeds where a method varies. "
        "p: how often shuffled attributes show a gap at least as large as the exact one; the "
        "p-value of every method's gap is in the CSV and Parquet files."
    )
    return layout.table(name, title, rows, columns, note, 2, data=gaps)


def paper_table(name: str, title: str, gaps: pl.DataFrame, spent: pl.DataFrame) -> OutcomeTable:
    """The same as the paper prints it: a row for each model and method, a column for each metric.

    Parameters
    ----------
    gaps, spent : as `compared_gaps` and `costs` give them, of one data set
    """
    metrics = gaps["metric"].unique(maintain_order=True).to_list()
    found = {(row["model"], row["method"], row["metric"]): row for row in gaps.to_dicts()}

    def of_metric(metric: str) -> layout.Shown:
        return lambda row: _found(found.get((row["model"], row["method"], metric)))

    def seconds(row: layout.ShownRow) -> str:
        return _with_printed(number(row["seconds"]), row["published_seconds"])

    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("method", layout.text("method")),
        *((metric, of_metric(metric)) for metric in metrics),
        ("time (s)", seconds),
    ]
    wide = gaps.pivot("metric", index=["model", "method"], values="gap")
    times = spent.select("model", "method", "seconds", "published_seconds")
    rows = times.join(wide, on=["model", "method"], how="left", maintain_order="left")
    note = (
        "Gaps as the paper arranges them; in brackets: published. Spread over seeds where a method "
        f"varies. The paper's auc is {POOLED} here, which a search cannot look for."
    )
    return layout.table(name, title, rows, columns, note, 2)


def about_groups(chance: pl.DataFrame) -> str:
    """What is compared, in a line."""
    row = chance.filter(min_support=MIN_SUPPORT).row(0, named=True)
    return (
        f"{row['n_users']:,} users, {row['n_groups']:,} groups of at least {row['min_users']:,} "
        f"among {row['n_combinations']:,} combinations."
    )


def _found(row: dict[str, Any] | None) -> str:
    if row is None:
        return "-"
    return _with_printed(layout.spread("gap", "gap_sd")(row), row["published"])


def _with_printed(ours: str, printed: float | None) -> str:
    return ours if printed is None else f"{ours} ({number(printed)})"


def cost_table(name: str, title: str, spent: pl.DataFrame) -> OutcomeTable:
    """A row for each model and method, as `costs` gives them."""
    columns: list[layout.Column] = [
        ("model", layout.model_title),
        ("method", layout.text("method")),
        ("accuracy", layout.percent_spread("accuracy", "accuracy_sd")),
        ("published", layout.percent("published_accuracy")),
        ("users scored", layout.count("users")),
        ("of all", layout.percent("share", 0)),
        ("combinations queried", layout.count("combinations")),
        ("users, all metrics", layout.count("users_together")),
        ("seconds", layout.spread("seconds", "seconds_sd")),
        ("published s", layout.figure("published_seconds")),
    ]
    note = (
        "Accuracy: gap found as a share of the exact one, mean over metrics, spread over seeds. "
        "Users scored: for one metric, and for all metrics together. Combinations queried: for one "
        "metric, those without enough users too. Seconds: for all metrics."
    )
    return layout.table(name, title, spent, columns, note, 2)
