"""The published figures, and outcomes joined to them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import polars as pl

from fairrec.metrics.item_exposure import discounts
from fairrec.statistics.permutation import gap_p_value
from fairrec_paper.reproduction.methods import POOLED, Method
from fairrec_paper.reproduction.subject import MIN_SUPPORT

IDEAL_OF_FIVE = float(discounts(5).sum())
"""2.9485: the paper's NDCG@5 is divided by the gain of five relevant items, though every user has
one target. Ours is divided by the gain of that one target, which is 1."""

OUR_NAMES = {"mrr": "mrr@5", "ndcg": "ndcg@5", "urd": "urd@5", "urp": "urp@5"}
"""The paper's metrics are ours at five; its `auc` is our `pooled_auc`, and stands beside both."""


@cache
def published() -> pl.DataFrame:
    """All published numbers, metrics under our names.

    Returns
    -------
    `experiment, label, dataset, model, method, metric, published, printed, unit`; `published` is
    on our scale, so that NDCG is multiplied by `IDEAL_OF_FIVE`, and `printed` as in the paper
    """
    with (files("fairrec_paper.reproduction") / "published.csv").open("rb") as file:
        rows = pl.read_csv(file.read(), schema_overrides={"value": pl.Float64})
    scale = pl.when(pl.col("metric") == "ndcg").then(IDEAL_OF_FIVE).otherwise(1.0)
    return rows.select(
        pl.col("experiment", "label", "dataset", "model", "method").fill_null(""),
        pl.col("metric").replace(OUR_NAMES),
        published=pl.col("value") * scale,
        printed="value",
        unit=pl.col("unit").fill_null(""),
    )


def published_gaps(experiment: str) -> pl.DataFrame:
    """`dataset, model, method, metric, published` of the gaps of an experiment's table."""
    return (
        published()
        .filter(pl.col("experiment") == experiment, pl.col("label").str.starts_with("Table"))
        .filter(pl.col("metric") != "time")
        .select("dataset", "model", "method", "metric", "published")
    )


def published_seconds(experiment: str) -> pl.DataFrame:
    """`dataset, model, method, published_seconds`."""
    return (
        published()
        .filter(pl.col("experiment") == experiment, pl.col("metric") == "time")
        .select("dataset", "model", "method", published_seconds="published")
    )


SUBJECT = ["dataset", "model"]


def mean_accuracy() -> pl.Expr:
    """`accuracy`: the mean share of the exact gap that was found; where that is 0 there is none."""
    return (pl.col("gap") / pl.col("exact")).filter(pl.col("exact") > 0).mean().alias("accuracy")


def mean_and_sd(*names: str) -> tuple[pl.Expr, pl.Expr]:
    """Means, and standard deviations as `NAME_sd`; null of a single value."""
    return pl.col(names).mean(), pl.col(names).std().name.suffix("_sd")


def compare_gaps(
    search: pl.DataFrame, chance: pl.DataFrame, searches: Sequence[Method], experiment: str
) -> pl.DataFrame:
    """One row for each data set, model, method and metric.

    Parameters
    ----------
    search : rows of search trials
    chance : rows of chance trials, with `min_support`

    Returns
    -------
    `dataset, model, method, metric, gap, gap_sd, accuracy, accuracy_sd, users, share, exact,
    published, published_accuracy, chance_mean, chance_q95, p_value`; `sd` over seeds, null for one;
    accuracies as shares of the exact gap, null where that is 0; the null distribution is that of
    gaps between the groups that a method looks at, and `p_value` is of the gap it found
    """
    exact = chance.filter(min_support=MIN_SUPPORT).select(*SUBJECT, "metric", exact="gap")
    seeds = search.join(exact, on=[*SUBJECT, "metric"], how="left").with_columns(
        accuracy=pl.when(pl.col("exact") > 0).then(pl.col("gap") / pl.col("exact")).round(12)
    )
    rows = seeds.group_by(*SUBJECT, "method", "metric", maintain_order=True).agg(
        *mean_and_sd("gap"),
        *mean_and_sd("accuracy"),
        pl.col("users").mean(),
        (pl.col("users") / pl.col("n_users")).mean().alias("share"),
        pl.col("exact").first(),
    )
    rows = pl.concat([rows, _pooled(rows, chance, searches)], how="diagonal_relaxed")
    rows = rows.join(_search_table(searches), on="method", how="left", maintain_order="left")
    levels = chance.select(
        *SUBJECT, "metric", "min_support", "chance_mean", "chance_q95", "by_chance"
    )
    rows = rows.join(
        levels, on=[*SUBJECT, "metric", "min_support"], how="left", maintain_order="left"
    )
    p_values = [
        gap_p_value(np.array(by_chance), gap) if by_chance else None
        for gap, by_chance in rows.select("gap", "by_chance").iter_rows()
    ]
    rows = rows.with_columns(pl.Series("p_value", p_values, dtype=pl.Float64))
    return _with_published(rows, experiment).drop("published_as", "min_support", "by_chance")


def _search_table(searches: Sequence[Method]) -> pl.DataFrame:
    """`method, published_as, min_support`."""
    rows = [(method.title, method.published, method.min_support) for method in searches]
    return pl.DataFrame(rows, ["method", "published_as", "min_support"], orient="row")


def _pooled(rows: pl.DataFrame, chance: pl.DataFrame, searches: Sequence[Method]) -> pl.DataFrame:
    """The pooled AUC, which is the paper's, of methods that enumerate groups.

    It is no mean over users, so a search cannot look for it; who enumerates can compute it.
    """
    exact = chance.filter(pl.col("metric") == POOLED, pl.col("min_support") == MIN_SUPPORT)
    parts = []
    for method in searches:
        if method.searcher not in ("themis", "testsgd", "exact") or method.users is not None:
            continue
        own = chance.filter(metric=POOLED, min_support=method.min_support)
        costs = rows.filter(method=method.title, metric="auc").select(*SUBJECT, "users", "share")
        parts.append(
            own.select(*SUBJECT, "metric", "gap")
            .join(exact.select(*SUBJECT, exact="gap"), on=SUBJECT)
            .join(costs, on=SUBJECT)
            .with_columns(
                method=pl.lit(method.title),
                accuracy=pl.when(pl.col("exact") > 0).then(pl.col("gap") / pl.col("exact")),
            )
        )
    return pl.concat(parts) if parts else rows.clear()


def add_pooled(gaps: pl.DataFrame) -> pl.DataFrame:
    """The gaps, and those of `auc` once more as those of `pooled_auc`, which the paper's is."""
    pooled = gaps.filter(metric="auc").with_columns(metric=pl.lit(POOLED))
    return pl.concat([gaps, pooled])


def published_exact() -> pl.DataFrame:
    """`dataset, model, metric, published`: the gaps that the paper takes for exact, Themis'."""
    return add_pooled(published_gaps("table2").filter(method="themis").drop("method"))


def _with_published(rows: pl.DataFrame, experiment: str) -> pl.DataFrame:
    known = add_pooled(published_gaps(experiment)).rename({"method": "published_as"})
    best = published_exact().rename({"published": "best"})
    joined = rows.join(
        known, on=[*SUBJECT, "metric", "published_as"], how="left", maintain_order="left"
    ).join(best, on=[*SUBJECT, "metric"], how="left", maintain_order="left")
    return joined.with_columns(published_accuracy=pl.col("published") / pl.col("best")).drop("best")


def compute_costs(
    search: pl.DataFrame, gaps: pl.DataFrame, searches: Sequence[Method]
) -> pl.DataFrame:
    """One row for each data set, model and method, over all metrics.

    Returns
    -------
    `dataset, model, method, accuracy, accuracy_sd, users, share, combinations, users_together,
    seconds, seconds_sd, published_accuracy, published_seconds`; `accuracy` is the mean over
    metrics, its sd over seeds; `users` and `combinations` of the search for one metric,
    `users_together` of all of them, as a user is scored once
    """
    exact = gaps.select(*SUBJECT, "metric", "exact").unique()
    per_seed = (
        search.join(exact, on=[*SUBJECT, "metric"])
        .filter(pl.col("exact") > 0)
        .group_by(*SUBJECT, "method", "seed", maintain_order=True)
        .agg(
            mean_accuracy().round(12),
            pl.col("users", "combinations").mean(),
            (pl.col("users") / pl.col("n_users")).mean().alias("share"),
            pl.col("users_together", "seconds").first(),
        )
    )
    rows = per_seed.group_by(*SUBJECT, "method", maintain_order=True).agg(
        *mean_and_sd("accuracy"),
        pl.col("users", "share", "combinations", "users_together").mean(),
        *mean_and_sd("seconds"),
    )
    printed = (
        gaps.filter(pl.col("metric") != POOLED)
        .group_by(*SUBJECT, "method")
        .agg(pl.col("published_accuracy").mean())
    )
    names = _search_table(searches).drop("min_support")
    seconds = published_seconds("table2").rename({"method": "published_as"})
    return (
        rows.join(printed, on=[*SUBJECT, "method"], how="left", maintain_order="left")
        .join(names, on="method", how="left", maintain_order="left")
        .join(seconds, on=[*SUBJECT, "published_as"], how="left", maintain_order="left")
        .drop("published_as")
    )
