"""MovieLens 1M and 100K: ratings from 1 to 5 by users with gender, age and occupation."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from fairrec.core.progress import Progress
from fairrec_paper.datasets.bundle import (
    DATASETS,
    Bundle,
    Dataset,
    counted,
    first_of_each_pair,
    make_bundle,
)
from fairrec_paper.datasets.raw_files import (
    UTF_8_OR_LATIN_1,
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
ITEM_FIELDS = ("item_id", "title", "release_date", "video_release_date", "imdb_url")

Tables = tuple[RawTable, RawTable, RawTable]
"""Ratings, users and items."""


def read_1m(raw: Path, progress: Progress) -> Bundle:
    """The bundle of MovieLens 1M."""
    tables = _parquet_tables(raw, pl.Int64) if holds_parquet(raw) else _tables_1m(raw, progress)
    return _bundle("movielens-1m", *tables)


def read_100k(raw: Path, progress: Progress) -> Bundle:
    """The bundle of MovieLens 100K."""
    tables = _parquet_tables(raw, pl.String) if holds_parquet(raw) else _tables_100k(raw, progress)
    return _bundle("movielens-100k", *tables)


def _tables_1m(raw: Path, progress: Progress) -> Tables:
    def read(name: str, fields: tuple[str, ...]) -> RawTable:
        progress(f"reading {name}", 0, 0)
        path = find_file("movielens-1m", raw, name)
        return read_fields(path, "::", fields, UTF_8_OR_LATIN_1)

    return (
        read("ratings.dat", RATING).whole_numbers(*RATING),
        read("users.dat", ("user_id", *ATTRIBUTES, ZIP_CODE)).whole_numbers(
            "user_id", "age", "occupation"
        ),
        read("movies.dat", ("item_id", "title", "genres")).whole_numbers("item_id"),
    )


def _tables_100k(raw: Path, progress: Progress) -> Tables:
    def read(name: str, separator: str, fields: tuple[str, ...]) -> RawTable:
        progress(f"reading {name}", 0, 0)
        path = find_file("movielens-100k", raw, name)
        return read_fields(path, separator, fields, UTF_8_OR_LATIN_1)

    numbered = read("u.genre", "|", ("genre", "number")).whole_numbers("number").collect()
    genres = tuple(numbered.sort("number")["genre"])
    items = read("u.item", "|", (*ITEM_FIELDS, *genres)).whole_numbers("item_id")
    for genre in genres:
        items.refuse(~pl.col(genre).is_in(["0", "1"]), genre, "is not 0 or 1")
    flagged = [pl.when(pl.col(genre) == "1").then(pl.lit(genre)) for genre in genres]
    named = items.rows.with_columns(
        pl.concat_str(flagged, separator="|", ignore_nulls=True).alias("genres")
    )
    return (
        read("u.data", "\t", RATING).whole_numbers(*RATING),
        read("u.user", "|", ("user_id", "age", "gender", "occupation", ZIP_CODE)).whole_numbers(
            "user_id", "age"
        ),
        RawTable(named, items.file),
    )


def _parquet_tables(raw: Path, occupation: type[pl.DataType]) -> Tables:
    numbers = dict.fromkeys(RATING, pl.Int64)
    users: ColumnTypes = {
        "user_id": pl.Int64,
        "gender": pl.String,
        "age": pl.Int64,
        "occupation": occupation,
    }
    items = {"item_id": pl.Int64, "title": pl.String, "genres": pl.String}
    return (
        read_parquet(raw, "interactions", numbers, may_be_null=("timestamp",)),
        read_parquet(raw, "users", users, where_there={ZIP_CODE: pl.String}),
        read_parquet(raw, "items", items),
    )


def _bundle(name: str, ratings: RawTable, users: RawTable, items: RawTable) -> Bundle:
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
        name,
        interactions,
        people.select("user_id", *ATTRIBUTES, *({ZIP_CODE} & {*people.columns})),
        movies.select("item_id", "title", categories.alias("categories")),
        files=(ratings.file, users.file, items.file),
        positive=f"rating >= {GOOD}",
        order="time of the rating",
        notes=(
            *notes,
            *counted("ratings without a time", timeless),
            *counted("movies without ratings, kept", unrated),
        ),
    )


DATASETS.add(
    "movielens-1m",
    Dataset(
        name="movielens-1m",
        title="MovieLens 1M: ratings of movies",
        where="https://grouplens.org/datasets/movielens/1m/",
        licence=TERMS,
        files=("ratings.dat", "users.dat", "movies.dat"),
        attributes=ATTRIBUTES,
        n_groups="294 (2 x 7 x 21)",
        read=read_1m,
    ),
)
DATASETS.add(
    "movielens-100k",
    Dataset(
        name="movielens-100k",
        title="MovieLens 100K: ratings of movies",
        where="https://grouplens.org/datasets/movielens/100k/",
        licence=TERMS,
        files=("u.data", "u.user", "u.item", "u.genre"),
        attributes=ATTRIBUTES,
        n_groups="2,562 (2 x 61 x 21)",
        read=read_100k,
    ),
)
