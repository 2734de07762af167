"""Training, validation and test: the last two positive interactions of each user are targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl


@dataclass(frozen=True, slots=True)
class Split:
    """Positive interactions in three parts.

    Parameters
    ----------
    train, validation, test : `user_id`, `item_id` and what else the interactions have
    n_too_short : users with one positive interaction, which trains; they have no target
    """

    train: pl.DataFrame
    validation: pl.DataFrame
    test: pl.DataFrame
    n_too_short: int


def split_last(positives: pl.DataFrame, seed: int = 0) -> Split:
    """The last positive interaction of a user is the test target, the one before it validates.

    A user of whose interactions some have no time gets them in random order: which times are
    missing may depend on what happened, and so would the targets. Equal times keep the order
    of the rows. At least one interaction stays for training, so a user with two has no
    validation target.
    """
    rng = np.random.default_rng([seed, 1])
    has_all_times = pl.col("time").is_not_null().all().over("user_id")
    draw = pl.Series("_draw", rng.random(positives.height))
    ordered = (
        positives.with_columns(
            pl.when(has_all_times).then(pl.col("time")).alias("_time"),
            pl.when(has_all_times).then(0.0).otherwise(draw).alias("_draw"),
        )
        .sort("user_id", "_time", "_draw", maintain_order=True)
        .drop("_time", "_draw")
        .with_columns(
            pl.int_range(pl.len()).over("user_id").alias("_place"),
            pl.len().over("user_id").alias("_n"),
        )
    )
    from_end = pl.col("_n") - 1 - pl.col("_place")
    is_test = (from_end == 0) & (pl.col("_n") >= 2)
    is_validation = (from_end == 1) & (pl.col("_n") >= 3)

    def part(rows: pl.Expr) -> pl.DataFrame:
        return ordered.filter(rows).drop("_place", "_n")

    n_too_short = ordered.filter(pl.col("_n") == 1).height
    return Split(part(~is_test & ~is_validation), part(is_validation), part(is_test), n_too_short)
