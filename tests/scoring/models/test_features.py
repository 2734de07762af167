"""Features joined from the tables."""

from __future__ import annotations

import re
from datetime import date, timedelta

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.tables import Table
from fairrec.scoring.features import join_features
from fairrec.scoring.options import parse_features

USERS = pl.DataFrame(
    {
        "user_id": ["b", "a", "c"],
        "age": [20, 30, None],
        "height": [1.5, None, 1.7],
        "member": [True, False, True],
        "born": [date(2000, 1, 2), date(1990, 3, 4), None],
        "since": [timedelta(1), timedelta(2), None],
        "bytes": [b"\xff", b"a", None],
        "large": pl.Series([2**100, 1, 2], dtype=pl.Int128),
    }
)
ITEMS = pl.DataFrame({"item_id": [2, 1], "genres": [["x", "y"], []], "odd": [{"a": 1}, {"a": 2}]})


def joined(features: str, users: list[str] = ("a", "b"), items: list[int] = (1, 2, 9)):
    tables = {"users": Table(USERS, "users"), "items": Table(ITEMS, "items")}
    return join_features(parse_features(features), tables, pl.Series([*users]), pl.Series([*items]))


def test_values_follow_the_order_of_users_and_items():
    found = joined("users:age,users:member,items:genres")
    assert found.per_user["age"].tolist() == [30, 20]
    assert found.per_user["member"].tolist() == [False, True]
    # lists are text joined with '|'; an item that is not in the table has no value
    assert found.per_item["genres"].tolist() == ["", "x|y", None]


def test_whole_numbers_of_any_size_stay_whole():
    assert joined("users:large").per_user["large"].tolist() == [1, 2**100]


def test_categories_are_found_by_their_usual_names():
    assert joined("items:categories").per_item["categories"].tolist() == ["", "x|y", None]


def test_what_is_missing_stays_missing():
    found = joined("users:age,users:height,users:born", users=["a", "c"])
    assert found.per_user["age"].tolist() == [30, None]
    height = found.per_user["height"].tolist()
    assert height[1] == 1.7
    assert height[0] != height[0], "NaN"
    assert found.per_user["born"].tolist() == ["1990-03-04", None]


def test_ids_that_look_like_numbers_are_joined_with_numbers():
    tables = {"items": Table(ITEMS, "items")}
    found = join_features(
        parse_features("items:genres"), tables, pl.Series(["u"]), pl.Series(["1", "2"])
    )
    assert found.per_item["genres"].tolist() == ["", "x|y"]


@pytest.mark.parametrize(
    ("features", "says"),
    [
        ("users:shoe", "no column 'shoe', which features asks for. Columns here: user_id, age"),
        ("items:odd", "feature 'odd' holds Struct"),
        ("users:since", "feature 'since' holds Duration"),
        ("users:bytes", "feature 'bytes' holds Binary"),
    ],
)
def test_features_that_are_not_there_are_refused(features, says):
    with pytest.raises(InputError, match=re.escape(says)):
        joined(features)


def test_a_feature_of_a_table_that_is_not_given_is_refused():
    with pytest.raises(InputError, match=r"needs the items table\. Give items"):
        join_features(
            parse_features("items:genres"),
            {"users": Table(USERS, "users")},
            pl.Series(["a"]),
            pl.Series([1]),
        )
