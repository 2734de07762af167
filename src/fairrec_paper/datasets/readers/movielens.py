"""MovieLens 1M: ratings from 1 to 5 by users with gender, age and occupation."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from fairrec.core.progress import Progress
from fairrec_paper.datasets.bundle import (
    DATASETS,
    Bundle,
    Dataset,
    count_note,
    first_of_each_pair,
    make_bundle,
)
from fairrec_paper.datasets.raw_files import (
    ColumnTypes,
    RawTable,
    find_file,
    holds_parquet,
    read_fields,
    read_parquet,
)

GOOD = 4
RATING = ("user_id", "item_id", "rating", "timestamp")
ATTRIBUTES = ("gender", "age", "occupation")
ZIP_CODE = "zip_code"
"""Kept beside the attributes where the files have it: the paper's models see it."""
TERMS = (
    "GroupLens terms: research use; acknowledge in publications (Harper and Konstan 2015); no "
    "redistribution and no commercial use without permission"
)
Tables = tuple[RawTable, RawTable, RawTable]
"""Ratings, users and items."""


def read(raw: Path, progress: Progress) -> Bundle:
    """The bundle of MovieLens 1M."""
    ratings, users, items = _parquet_tables(raw) if holds_parquet(raw) else _tables(raw, progress)
    users.refuse_repeated("user_id")
    items.refuse_repeated("item_id")
    people, movies = users.collect(), items.collect()
    ratings.refuse_unknown("user_id", people["user_id"], users.file)
    ratings.refuse_unknown("item_id", movies["item_id"], items.file)
    ratings.refuse(~pl.col("rating").is_between(1, 5), "rating", "is not from 1 to 5")
    rows, notes = first_of_each_pair(ratings.collect())
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
    return make_bundle(
        "movielens-1m",
        interactions,
        people.select("user_id", *ATTRIBUTES, *({ZIP_CODE} & {*people.columns})),
        movies.select("item_id", "title", categories.alias("categories")),
        files=(ratings.file, users.file, items.file),
        positive=f"rating >= {GOOD}",
        order="time of the rating",
        notes=(
            *notes,
            *count_note("ratings without a time", timeless),
            *count_note("movies without ratings, kept", unrated),
        ),
    )


def _tables(raw: Path, progress: Progress) -> Tables:
    def read_table(name: str, fields: tuple[str, ...], *numbers: str) -> RawTable:
        progress(f"reading {name}", 0, 0)
        path = find_file("movielens-1m", raw, name)
        return read_fields(path, "::", fields).whole_numbers(*numbers)

    user = ("user_id", *ATTRIBUTES, ZIP_CODE)
    return (
        read_table("ratings.dat", RATING, *RATING),
        read_table("users.dat", user, "user_id", "age", "occupation"),
        read_table("movies.dat", ("item_id", "title", "genres"), "item_id"),
    )


def _parquet_tables(raw: Path) -> Tables:
    numbers = dict.fromkeys(RATING, pl.Int64)
    users: ColumnTypes = {
        "user_id": pl.Int64,
        "gender": pl.String,
        "age": pl.Int64,
        "occupation": pl.Int64,
    }
    items = {"item_id": pl.Int64, "title": pl.String, "genres": pl.String}
    return (
        read_parquet(raw, "interactions", numbers, may_be_null=("timestamp",)),
        read_parquet(raw, "users", users, optional={ZIP_CODE: pl.String}),
        read_parquet(raw, "items", items),
    )


DATASETS.add(
    "movielens-1m",
    Dataset(
        title="MovieLens 1M: ratings of movies",
        where="https://grouplens.org/datasets/movielens/1m/",
        licence=TERMS,
        files=("ratings.dat", "users.dat", "movies.dat"),
        attributes=ATTRIBUTES,
        n_groups="294 (2 x 7 x 21)",
        read=read,
    ),
)
