from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.datasets.bundle import first_of_each_pair, make_bundle, most_frequent

USERS = pl.DataFrame(
    {"user_id": [1, 2, 3], "gender": ["F", None, "M"], "age": ["18"] * 3, "occupation": ["0"] * 3}
)
ITEMS = pl.DataFrame({"item_id": [10, 20], "title": ["Heat", "Up"]})


def bundle(interactions: pl.DataFrame, notes: tuple[str, ...] = ()):
    return make_bundle(
        "movielens-1m", interactions, USERS, ITEMS, ["ratings.dat"], "4 and up", "by time", notes
    )


def test_the_first_of_each_pair_stays_and_the_others_are_counted():
    rows = pl.DataFrame(
        {"user_id": [1, 1, 1, 2], "item_id": [10, 20, 10, 10], "rating": [5, 4, 1, 3]}
    )
    firsts, notes = first_of_each_pair(rows)
    assert firsts["rating"].to_list() == [5, 4, 3]
    assert notes == ("further rows of the same user and item, dropped: 1",)


def test_the_most_frequent_name_is_taken_and_the_first_in_order_among_equals():
    rows = pl.LazyFrame({"artist": [1, 1, 1, 2, 2], "name": ["B", "A", "B", "D", "C"]})
    assert most_frequent("name", "artist", rows).rows() == [(1, "B"), (2, "C")]


def test_users_without_interactions_are_dropped_and_every_gap_is_counted():
    interactions = pl.DataFrame(
        {"user_id": [1, 2, 2], "item_id": [10, 10, 20], "is_positive": [True, False, True]}
    )
    made = bundle(interactions, ("a note",))
    assert made.users["user_id"].to_list() == [1, 2]
    manifest = made.manifest
    assert (manifest.n_interactions, manifest.n_positive, manifest.n_users) == (3, 2, 2)
    assert manifest.notes == (
        "a note",
        "users without interactions, dropped: 1",
        "users without gender: 1",
    )


def test_nothing_left_is_an_error_that_says_where_it_went():
    with pytest.raises(InputError, match=r"no interaction is left \(all dropped\)"):
        bundle(pl.DataFrame({"user_id": [], "item_id": [], "is_positive": []}), ("all dropped",))
