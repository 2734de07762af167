"""Last.fm 360K: how often users played artists; users with gender, age and country."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from fairrec.core.progress import Progress
from fairrec_paper.datasets import bundle

PLAYS_FILE = "usersha1-artmbid-artname-plays.tsv"
PROFILE_FILE = "usersha1-profile.tsv"
ATTRIBUTES = ("gender", "age", "country")
SIGNUP = "signup"
"""Kept beside the attributes: the paper's models see it."""
AGES = (1, 110)
MBID_LENGTH = 36
IS_PLAY = pl.col("item_id").is_not_null() & (pl.col("plays") > 0)


def read(raw: Path, progress: Progress) -> bundle.Bundle:
    """The bundle of Last.fm 360K; the plays stream from disk in several passes."""
    progress("reading profiles", 0, 4)
    profiles = _profiles(raw)
    profiles.refuse_repeated("user_id")
    progress("checking plays", 1, 4)
    plays = _parquet_plays(raw) if bundle.holds_parquet(raw) else _plays(raw)
    known, notes = _complete(profiles.collect())
    rows = _with_item_id(plays.rows)
    progress("naming artists", 2, 4)
    used = rows.filter(IS_PLAY).join(known.lazy().select("user_id"), on="user_id", how="semi")
    items = bundle.most_frequent("name", "item_id", used)
    progress("collecting plays", 3, 4)
    interactions, n_used = _interactions(used, known, items)
    n_rows = rows.select(pl.len()).collect(engine="streaming").item()
    return bundle.make_bundle(
        "lfm360k",
        interactions,
        known,
        items,
        files=bundle.PARQUET_FILES if bundle.holds_parquet(raw) else (PLAYS_FILE, PROFILE_FILE),
        positive="every artist a user played",
        order="not known; drawn at random",
        notes=(
            *notes,
            *bundle.count_note(
                "rows of other users, without an artist or without plays, dropped", n_rows - n_used
            ),
            *bundle.count_note(
                "further rows of the same user and artist, plays added up",
                n_used - interactions.height,
            ),
        ),
    )


def _plays(raw: Path) -> bundle.RawTable:
    path = bundle.find_file("lfm360k", raw, PLAYS_FILE)
    table = bundle.scan_tabs(path, ("user_id", "mbid", "name", "plays"))
    return table.whole_numbers("plays")


def _profiles(raw: Path) -> bundle.RawTable:
    columns = ("user_id", *ATTRIBUTES, SIGNUP)
    if bundle.holds_parquet(raw):
        table = bundle.read_raw_parquet(raw, "users", columns)
    else:
        table = bundle.scan_tabs(bundle.find_file("lfm360k", raw, PROFILE_FILE), columns)
    ages = table.whole_numbers("age", may_be_empty=True)
    return ages.empty_as_missing("gender", "country", SIGNUP)


def _parquet_plays(raw: Path) -> bundle.RawTable:
    plays = bundle.read_raw_parquet(raw, "interactions", ("user_id", "item_id", "plays"))
    artists = bundle.read_raw_parquet(raw, "items", ("item_id", "artist_mbid", "artist_name"))
    artists.refuse_repeated("item_id")
    named = artists.collect().rename({"artist_mbid": "mbid", "artist_name": "name"})
    plays.refuse_unknown("item_id", named["item_id"], artists.file)
    joined = plays.rows.join(named.lazy(), on="item_id")
    return replace(plays, rows=joined).whole_numbers("plays")


def _complete(profiles: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The complete profiles, and notes on the others."""
    age = pl.col("age")
    is_junk = ~age.is_between(*AGES)
    n_junk = profiles.filter(is_junk).height
    users = profiles.with_columns(pl.when(~is_junk).then(age)).drop_nulls(ATTRIBUTES)
    return users.select("user_id", *ATTRIBUTES, SIGNUP), (
        *bundle.count_note(f"ages outside {AGES[0]} to {AGES[1]}, taken as missing", n_junk),
        *bundle.count_note(
            "users without gender, age or country, dropped", profiles.height - users.height
        ),
    )


def _with_item_id(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows with `item_id`: the MusicBrainz id where there is one, else the artist's name."""
    has_mbid = pl.col("mbid").str.len_bytes() == MBID_LENGTH
    has_name = pl.col("name") != ""
    item_id = pl.when(has_mbid).then("mbid").when(has_name).then("name")
    return rows.select("user_id", item_id.alias("item_id"), "name", "plays")


def _interactions(
    rows: pl.LazyFrame, users: pl.DataFrame, items: pl.DataFrame
) -> tuple[pl.DataFrame, int]:
    """Each user and artist once, and the number of rows that are added up."""
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
    return interactions, pairs.height


bundle.DATASETS.add(
    "lfm360k",
    bundle.Dataset(
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
