"""Last.fm 360K: how often users played artists; users with gender, age and country."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from fairrec.core.progress import Progress
from fairrec_paper.datasets.bundle import (
    DATASETS,
    Bundle,
    Dataset,
    count_note,
    make_bundle,
    most_frequent,
)
from fairrec_paper.datasets.raw_files import (
    PARQUET_FILES,
    RawTable,
    find_file,
    holds_parquet,
    read_parquet,
    scan_tabs,
)

PLAYS_FILE = "usersha1-artmbid-artname-plays.tsv"
PROFILE_FILE = "usersha1-profile.tsv"
ATTRIBUTES = ("gender", "age", "country")
SIGNUP = "signup"
"""Kept beside the attributes: the paper's models see it."""
AGES = (1, 110)
MBID_LENGTH = 36
IS_PLAY = pl.col("item_id").is_not_null() & (pl.col("plays") > 0)


def read(raw: Path, progress: Progress) -> Bundle:
    """The bundle of Last.fm 360K; the plays stream from disk in several passes."""
    progress("reading profiles", 0, 5)
    profiles = _profiles(raw)
    profiles.refuse_repeated("user_id")
    progress("checking plays", 1, 5)
    plays = _parquet_plays(raw) if holds_parquet(raw) else _plays(raw)
    users, notes = _complete(profiles.collect())
    rows = _with_item_id(plays.rows)
    progress("counting plays", 2, 5)
    notes += _dropped(rows, users)
    rows = rows.filter(IS_PLAY)
    known = users.filter("is_complete").select("user_id", *ATTRIBUTES, SIGNUP)
    progress("naming artists", 3, 5)
    items = _artists(rows, known)
    progress("collecting plays", 4, 5)
    interactions, repeated = _interactions(rows, known, items)
    return make_bundle(
        "lfm360k",
        interactions,
        known,
        items,
        files=PARQUET_FILES if holds_parquet(raw) else (PLAYS_FILE, PROFILE_FILE),
        positive="every artist a user played",
        order="not known; drawn at random",
        notes=(
            *notes,
            *count_note("further rows of the same user and artist, plays added up", repeated),
        ),
    )


def _plays(raw: Path) -> RawTable:
    path = find_file("lfm360k", raw, PLAYS_FILE)
    table = scan_tabs(path, ("user_id", "mbid", "name", "plays"))
    return table.whole_numbers("plays")


def _profiles(raw: Path) -> RawTable:
    columns = ("user_id", *ATTRIBUTES, SIGNUP)
    if holds_parquet(raw):
        table = read_parquet(raw, "users", columns)
    else:
        table = scan_tabs(find_file("lfm360k", raw, PROFILE_FILE), columns)
    ages = table.whole_numbers("age", may_be_empty=True)
    return ages.empty_as_missing("gender", "country", SIGNUP)


def _parquet_plays(raw: Path) -> RawTable:
    plays = read_parquet(raw, "interactions", ("user_id", "item_id", "plays"))
    artists = read_parquet(raw, "items", ("item_id", "artist_mbid", "artist_name"))
    artists.refuse_repeated("item_id")
    named = artists.collect().rename({"artist_mbid": "mbid", "artist_name": "name"})
    plays.refuse_unknown("item_id", named["item_id"], artists.file)
    joined = plays.rows.join(named.lazy(), on="item_id")
    return replace(plays, rows=joined).whole_numbers("plays")


def _complete(profiles: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Profiles with `is_complete`, and notes on those that are not."""
    age = pl.col("age")
    is_junk = ~age.is_between(*AGES)
    n_junk = profiles.filter(is_junk).height
    users = profiles.with_columns(pl.when(~is_junk).then(age)).with_columns(
        pl.all_horizontal(pl.col(ATTRIBUTES).is_not_null()).alias("is_complete")
    )
    n_incomplete = users.height - int(users["is_complete"].sum())
    return users, (
        *count_note(f"ages outside {AGES[0]} to {AGES[1]}, taken as missing", n_junk),
        *count_note("users without gender, age or country, dropped", n_incomplete),
    )


def _with_item_id(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows with `item_id`: the MusicBrainz id where there is one, else the artist's name."""
    has_mbid = pl.col("mbid").str.len_bytes() == MBID_LENGTH
    has_name = pl.col("name") != ""
    item_id = pl.when(has_mbid).then("mbid").when(has_name).then("name")
    return rows.select("user_id", item_id.alias("item_id"), "name", "plays")


def _dropped(rows: pl.LazyFrame, users: pl.DataFrame) -> tuple[str, ...]:
    """Notes on the rows that are not used."""
    n = (
        rows.join(users.lazy().select("user_id", "is_complete"), on="user_id", how="left")
        .select(
            pl.col("is_complete").is_null().sum().alias("stranger"),
            (~pl.col("is_complete")).sum().alias("incomplete"),
            (pl.col("is_complete") & ~IS_PLAY).sum().alias("empty"),
        )
        .collect(engine="streaming")
        .row(0, named=True)
    )
    return (
        *count_note("rows of users without a profile, dropped", n["stranger"]),
        *count_note("rows of users without gender, age or country, dropped", n["incomplete"]),
        *count_note("rows without an artist or without plays, dropped", n["empty"]),
    )


def _artists(rows: pl.LazyFrame, users: pl.DataFrame) -> pl.DataFrame:
    """`item_id` and `name`, the most frequent one, of the artists these users played."""
    played = rows.join(users.lazy().select("user_id"), on="user_id", how="semi")
    return most_frequent("name", "item_id", played)


def _interactions(
    rows: pl.LazyFrame, users: pl.DataFrame, items: pl.DataFrame
) -> tuple[pl.DataFrame, int]:
    """Each user and artist once, and how many rows were added to another."""
    # codes instead of texts until the end: millions of ids of 40 letters would fill memory
    coded_users = users.lazy().select("user_id").with_row_index("user")
    coded_items = items.lazy().select("item_id").with_row_index("item")
    pairs = (
        rows.join(coded_users, on="user_id")
        .join(coded_items, on="item_id")
        .select("user", "item", "plays")
        .collect(engine="streaming")
    )
    once = pairs.group_by("user", "item").agg(pl.col("plays").sum()).sort("user", "item")
    interactions = once.select(
        users["user_id"].gather(once["user"]),
        items["item_id"].gather(once["item"]),
        pl.lit(True).alias("is_positive"),
        pl.lit(None, dtype=pl.Int64).alias("time"),
        "plays",
    )
    return interactions, pairs.height - once.height


DATASETS.add(
    "lfm360k",
    Dataset(
        title="Last.fm 360K: plays of artists",
        where="http://ocelma.net/MusicRecommendationDataset/lastfm-360K.html",
        licence="distributed with permission of Last.fm; non-commercial use only; Last.fm's terms "
        "of service apply",
        files=(PLAYS_FILE, PROFILE_FILE),
        attributes=ATTRIBUTES,
        n_groups="53,058 (2 x 111 x 239)",
        read=read,
    ),
)
