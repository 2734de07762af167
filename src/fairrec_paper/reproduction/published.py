"""What the FairRec paper (Guo et al., ISSTA 2023) printed, as data.

`published.csv` has one row for each number of its tables, and for the numbers that its text gives
for figures: experiment, label in the paper, data set, model, method, metric, value as printed,
spread (the paper prints none), unit.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import polars as pl

from fairrec.metrics.attention import discounts

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
