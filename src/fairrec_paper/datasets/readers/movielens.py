"""MovieLens 1M: ratings from 1 to 5 by users with gender, age and occupation."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from fairrec.core.progress import Progress
from fairrec_paper.datasets import bundle

GOOD = 4
RATING = ("user_id", "item_id", "rating", "timestamp")
ATTRIBUTES = ("gender", "age", "occupation")
ZIP_CODE = "zip_code"
"""Kept beside the attributes: the paper's models see it."""
TERMS = (
    "GroupLens terms: research use; acknowledge in publications (Harper and Konstan 2015); no "
    "redistribution and no commercial use without permission"
)
Tables = tuple[bundle.RawTable, bundle.RawTable, bundle.RawTable]
"""Ratings, users and items."""


def read(raw: Path, progress: Progress) -> bundle.Bundle:
    """The bundle of MovieLens 1M."""
    ratings, users, items = _tables(raw, progress)
    users.refuse_repeated("user_id")
    items.refuse_repeated("item_id")
    people, movies = users.collect(), items.collect()
    ratings.refuse_unknown("user_id", people["user_id"], users.file)
    ratings.refuse_unknown("item_id", movies["item_id"], items.file)
    ratings.refuse(~pl.col("rating").is_between(1, 5), "rating", "is not from 1 to 5")
    rows, notes = bundle.first_of_each_pair(ratings.collect())
    interactions = rows.select(
        "user_id",
        "item_id",
        (pl.col("rating") >= GOOD).alias("is_positive"),
        pl.col("timestamp").alias("time"),
        "rating",
    )
    categories = pl.col("genres").str.split("|").list.filter(pl.element() != "")
    unrated = movies.height - interactions["item_id"].n_unique()
    timeless = interactions["time"].null_count()
    return bundle.make_bundle(
        "movielens-1m",
        interactions,
        people.select("user_id", *ATTRIBUTES, ZIP_CODE),
        movies.select("item_id", "title", categories.alias("categories")),
        files=(ratings.file, users.file, items.file),
        positive=f"rating >= {GOOD}",
        order="time of the rating",
        notes=(
            *notes,
            *bundle.count_note("ratings without a time", timeless),
            *bundle.count_note("movies without ratings, kept", unrated),
        ),
    )


def _tables(raw: Path, progress: Progress) -> Tables:
    """The publisher's files, or the same tables as Parquet."""

    def read_table(table: str, file: str, fields: tuple[str, ...]) -> bundle.RawTable:
        progress(f"reading {table}", 0, 0)
        if bundle.holds_parquet(raw):
            return bundle.read_raw_parquet(raw, table, fields)
        return bundle.read_fields(bundle.find_file("movielens-1m", raw, file), "::", fields)

    ratings = read_table("interactions", "ratings.dat", RATING)
    users = read_table("users", "users.dat", ("user_id", *ATTRIBUTES, ZIP_CODE))
    items = read_table("items", "movies.dat", ("item_id", "title", "genres"))
    return (
        ratings.whole_numbers(*RATING[:-1]).whole_numbers(RATING[-1], may_be_empty=True),
        users.whole_numbers("user_id", "age", "occupation"),
        items.whole_numbers("item_id"),
    )


bundle.DATASETS.add(
    "movielens-1m",
    bundle.Dataset(
        title="MovieLens 1M: ratings of movies",
        where="https://grouplens.org/datasets/movielens/1m/",
        licence=TERMS,
        files=("ratings.dat", "users.dat", "movies.dat"),
        attributes=ATTRIBUTES,
        n_groups="294 (2 x 7 x 21)",
        read=read,
    ),
)
