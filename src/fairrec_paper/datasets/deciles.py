"""Attributes from behaviour, for data sets that tell nothing else about their users."""

from __future__ import annotations

import polars as pl

from fairrec.demo.held_out import split_last

ATTRIBUTES = ("activity", "spend", "top_price")
RULE = (
    "activity, spend and top_price: decile 0 to 9 of the number, the total amount and the highest "
    "price of a user's training interactions (all but the last two); a user's decile is 10 times "
    "the share of users with a smaller value, rounded down, so equal values share a decile"
)


def behaviour_deciles(interactions: pl.DataFrame, amount: str) -> pl.DataFrame:
    """`user_id`, `activity`, `spend` and `top_price` in deciles over training interactions.

    Parameters
    ----------
    interactions : `user_id`, `time`, `price` and the column named by `amount`; all positive
    """
    # whole hundredths, or the order of a sum could part users who spent the same
    hundredths = (pl.col(amount) * 100).round().cast(pl.Int64)
    totals = (
        split_last(interactions)
        .train.group_by("user_id")
        .agg(
            pl.len().alias("activity"),
            hundredths.sum().alias("spend"),
            pl.col("price").max().alias("top_price"),
        )
    )
    return totals.select("user_id", *(decile(name) for name in ATTRIBUTES)).sort("user_id")


def decile(column: str) -> pl.Expr:
    """10 times the share of rows with a smaller value, rounded down; equal values share it."""
    n_smaller = pl.col(column).rank("min").cast(pl.Int64) - 1
    return (10 * n_smaller // pl.len().cast(pl.Int64)).alias(column)
