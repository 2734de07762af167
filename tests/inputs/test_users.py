"""Attributes of users: what they may hold, several values, missing ones, and codes of parts."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.inputs.tables import Table
from fairrec.inputs.users import (
    MISSING,
    MOST_EACH,
    Attribute,
    AttributeSpec,
    encode_attribute,
    encode_attributes,
    read_users,
    split_values,
    users_sum,
)
from tests.builders import audit, two_groups


def _attribute(values: Any) -> Attribute:
    """The attribute `x` with these values, of users in that order."""
    frame = pl.DataFrame({"user_id": range(len(values)), "x": values}, strict=False)
    users = read_users(Table(frame, "users"), ["x"])
    (attribute,) = users.attributes(frame["user_id"].to_numpy())
    return attribute


def test_notes_on_attributes_of_items_say_items():
    frame = pl.DataFrame({"item_id": range(32), "x": [None, " a", *map(str, range(30))]})
    items = read_users(Table(frame, "items"), ["x"])
    (missing, many) = items.attributes(np.arange(32))[0].warnings
    assert " of 32 items" in missing and " for 31 items" in many


@pytest.mark.parametrize(
    ("values", "better", "worse"),
    [
        (["a", "b"], "a", "b"),
        ([7, -3], 7, -3),
        ([True, False], True, False),
        ([1.5, 2.5], 1.5, 2.5),
        ([1.0, 2.0], 1, 2),
        ([2**62, -(2**63)], 2**62, -(2**63)),
        ([1e30, 2.0], 1e30, 2.0),
        ([date(2020, 1, 31), date(1999, 1, 1)], "2020-01-31", "1999-01-01"),
        ([Decimal("1.50"), Decimal("2.25")], 1.5, 2.25),
        (["", "x"], "", "x"),
        (["ß", "ss"], "ß", "ss"),
    ],
    ids=str,
)
def test_values_come_back_as_they_are(values: list[Any], better: Any, worse: Any):
    predictions, users = two_groups(x=values * 4)
    result = audit(predictions, users, "x")
    gap = result.gap("mrr")
    assert gap.advantaged.group == {"x": better}
    assert gap.disadvantaged.group == {"x": worse}
    assert type(gap.advantaged.group["x"]) is type(better)
    written = json.loads(result.to_json())["metrics"]["mrr@5"]["advantaged"]["group"]
    assert written == {"x": better}
    assert result.warnings == ()
    assert set(result.per_user["x"]) == {str(better), str(worse)}


@pytest.mark.parametrize(
    "values",
    [
        ["b", None, "a"],
        [2, None, 1],
        [2.5, None, 1.5],
        [2.5, float("nan"), 1.5],
        [2.0, None, 1.0],
        [True, None, False],
    ],
    ids=str,
)
def test_missing_values_are_a_value_of_their_own_behind_all_others(values: list[Any]):
    attribute = _attribute(values)
    assert attribute.codes.tolist() == [1, 2, 0]
    assert attribute.values == (values[2], values[0], MISSING)
    assert attribute.n_missing == 1
    assert attribute.warnings == (
        "attribute 'x' is missing for 1 of 3 users; they form the value '(missing)'",
    )


def test_missing_values_form_a_group():
    predictions, users = two_groups(x=["a", None] * 4)
    result = audit(predictions, users, "x")
    assert result.summary.attributes["x"].n_missing == 4
    groups = result.groups("mrr").filter(pl.col("depth") == 1, pl.col("x") == MISSING)
    assert (groups["support"].to_list(), groups["value"].to_list()) == ([4], [1 / 2])
    assert result.per_user["x"].to_list() == ["a", MISSING] * 4


def test_the_text_for_missing_and_no_value_count_as_one():
    attribute = _attribute(["a", MISSING, None])
    assert attribute.values == (MISSING, "a")
    assert attribute.codes.tolist() == [1, 0, 0]
    assert attribute.n_missing == 1


def test_users_without_predictions_are_left_out_and_counted():
    predictions, users = two_groups()
    more = pl.DataFrame({"user_id": ["x", "y"], "group": ["even", None]})
    result = audit(predictions, pl.concat([users, more]), "group")
    (without,) = result.summary.missing
    assert (without.kind, without.n_missing, without.n_users) == ("no list", 2, 10)
    # of the four odd ones none, of five even ones one, and the one without a group
    shares = {end.group["group"]: (end.value, end.support) for end in without.shares}
    assert shares == {"(missing)": (1, 1), "even": (1 / 5, 5), "odd": (0, 4)}
    assert result.warnings == ()
    assert result.summary.n_users == 8
    assert result.gap("mrr").advantaged.support == 4
    assert result.per_user.height == 8


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([f"name {i}" for i in range(40)], "40 different values for 40 users; group them"),
        ([f"name {i // 2}" for i in range(60)], None),
        ([f"name {i}" for i in range(1001)] * 101, None),
        ([*range(51)] * 99, "51 different values .*x:q5"),
    ],
    ids=["own", "pairs", "large", "numbers"],
)
def test_values_that_are_too_many_are_said_with_the_remedy(values: list[Any], says: str | None):
    warnings = _attribute(values).warnings
    assert len(warnings) == (says is not None)
    if says is not None:
        assert re.search(says, warnings[0])


@pytest.mark.parametrize(
    "values",
    [
        [[1], [2]],
        [{"a": 1}, {"a": 2}],
        [["x", "y"], []],
        [timedelta(1), timedelta(2)],
        [b"\xff"] * 2,
    ],
    ids=["lists", "structs", "text", "durations", "bytes"],
)
def test_an_attribute_without_text_is_refused(values: list[Any]):
    predictions, users = two_groups(x=values * 4)
    with pytest.raises(InputError, match=r"users table: attribute 'x' holds.*one value a user"):
        audit(predictions, users, "x")


@pytest.mark.parametrize("others", [[1.0], [1.5]], ids=["whole", "fractions"])
def test_an_infinite_attribute_is_refused(others: list[float]):
    predictions, users = two_groups(x=[*others, float("inf")] * 4)
    with pytest.raises(InputError, match=r"attribute 'x'.*infinite"):
        audit(predictions, users, "x")


@pytest.mark.parametrize("how", ["", ":1", ":q5", ":first"])
def test_the_user_id_is_no_attribute(how: str):
    predictions, users = two_groups()
    users = users.rename({"user_id": "uid"})
    for options in ({"by": f"uid{how}"}, {"by": "group", "adjust_for": f"uid{how}"}):
        with pytest.raises(InputError, match="'uid' is the user id itself"):
            audit(predictions, users, **options)


@pytest.mark.parametrize(
    "name",
    ["favourite colour", "年齢", "home:town", "age:10", "a.b", "=x", "literal", "x|y", "📎"],
)
def test_an_attribute_may_have_any_name(name: str):
    predictions, users = two_groups(**{name: ["a", "b"] * 4, "other": [1, 2, 3, 4] * 2})
    result = audit(predictions, users, f"{name},other")
    assert result.gap("mrr").advantaged.group[name] == "a"
    assert name in result.per_user.columns
    assert name in result.group_table.columns
    assert [*result.summary.attributes] == [name, "other"]


BARE = st.text(max_size=3).filter(lambda text: text == text.strip())
VALUES = (
    st.lists(st.none() | BARE, min_size=1, max_size=20),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20),
    st.lists(st.none() | st.booleans(), min_size=1, max_size=20),
    st.lists(st.none() | st.floats(allow_infinity=False, width=32), min_size=1, max_size=20),
)


@example(values=[1e30])
@given(values=st.one_of(*VALUES))
def test_codes_and_values_give_the_attribute_back(values: list[Any]):
    attribute = _attribute(values)
    known = [MISSING if pd.isna(value) else value for value in values]
    assert [attribute.values[code] for code in attribute.codes] == known
    assert attribute.n_missing == known.count(MISSING)
    assert len(set(attribute.values)) == len(attribute.values)
    ordered = [value for value in attribute.values if value != MISSING]
    assert ordered == sorted(ordered)


IDS = pl.Series(["u1", "u2"])
GENDER, AGE = pl.Series("gender", ["F", "M"]), pl.Series("age", ["10", "20"])
KNOWN = users_sum(IDS, [GENDER, AGE])


def test_the_order_of_attributes_and_the_type_of_ids_change_nothing():
    assert users_sum(IDS.cast(pl.Categorical), [AGE, GENDER]) == KNOWN
    assert users_sum(pl.Series([1, 2]), []) == users_sum(pl.Series(["1", "2"]), [])


@pytest.mark.parametrize(
    ("ids", "labels"),
    [
        (["u1", "u3"], [GENDER, AGE]),
        (["u2", "u1"], [GENDER, AGE]),
        # the same characters one after the other
        (["u1u", "2"], [GENDER, AGE]),
        (["u1", "u2"], [GENDER]),
        (["u1", "u2"], [GENDER.reverse(), AGE]),
        (["u1", "u2"], [GENDER.alias("sex"), AGE]),
        (["u1", "u2"], [GENDER.alias("age"), AGE.alias("gender")]),
    ],
)
def test_any_other_user_or_value_is_seen(ids, labels):
    assert users_sum(pl.Series(ids), labels) != KNOWN


USERS = pl.DataFrame(
    {
        "user_id": [1, 3, 5, 9],
        "langs": ["en|fr", "en", "de", None],
        "age": [20.0, 35.0, 50.5, 61.0],
    }
)
ASKED = ("langs:each", "age:10", "age:q2")


def test_values_are_those_of_audited_users_and_of_all():
    is_audited = np.array([True, True, False, True])
    columns, found = encode_attributes(Table(USERS, "users"), ASKED, is_audited)
    by_name = {one.spec.name: one for one in found}
    assert [*by_name] == ["langs[de]", "langs[en]", "langs[fr]", "age"]
    width, quantiles = (one for one in found if one.spec.name == "age")
    # a fraction makes no difference unless an audited user has it
    assert width.audited.values == ("20-29", "30-39", "60-69")
    assert width.everyone.values == ("[20, 30)", "[30, 40)", "[50, 60)", "[60, 70)")
    assert quantiles.audited.values == ("q1 [20, 35]", "q2 [61, 61]")
    assert columns["audited 3"].to_list() == [0, 1, -1, 2]
    assert columns["all 3"].to_list() == [0, 1, 2, 3]
    assert columns["audited 3"].dtype == pl.Int8


def test_whole_decimals_beyond_exact_floats_are_groups_of_their_own():
    values = pl.Series([2**60, 2**60 + 1, 2**60]).cast(pl.Decimal(38, 0))
    found = encode_attribute(values, AttributeSpec("seller", "seller"), "users")
    assert found.values == (2**60, 2**60 + 1) and found.codes.tolist() == [0, 1, 0]
    halves = encode_attribute(
        pl.Series(["0.50", "0.25"]).cast(pl.Decimal(9, 2)), AttributeSpec("x", "x"), ""
    )
    assert halves.values == (0.25, 0.5)


LANGUAGES = ["en", "fr|en", "en", "fr"]
LISTS = [["en"], ["fr", "en"], ["en"], ["fr"]]


def made(values: Any, how: str | None) -> dict[str, list[Any]]:
    """The columns that a column becomes, by name."""
    columns, _ = split_values(pl.Series(values), "lang", how, "users.csv")
    return {name: column.to_list() for name, column in columns.items()}


@pytest.mark.parametrize("values", [LANGUAGES, LISTS, pl.Series(LANGUAGES, dtype=pl.Categorical)])
def test_the_first_value_is_taken(values):
    assert made(values, "first") == {"lang": ["en", "fr", "en", "fr"]}


@pytest.mark.parametrize("values", [LANGUAGES, LISTS])
def test_each_value_becomes_an_attribute(values):
    assert made(values, "each") == {
        "lang[en]": ["yes", "yes", "yes", "no"],
        "lang[fr]": ["no", "yes", "no", "yes"],
    }


@pytest.mark.parametrize("values", [["en|fr", None, ""], [["en", None, "fr"], None, []]])
def test_a_user_without_a_value_is_missing_in_every_way(values):
    assert made(values, "first")["lang"] == ["en", None, None]
    assert made(values, "each") == {
        "lang[en]": ["yes", None, None],
        "lang[fr]": ["yes", None, None],
    }


def test_numbers_stay_numbers_and_one_value_stays_one():
    assert made([[3, 1], [2]], "first") == {"lang": [3, 2]}
    assert made(pl.Series([[3, 1], [2, 4]], dtype=pl.Array(pl.Int8, 2)), "first") == {
        "lang": [3, 2]
    }
    assert made([3, None, 1], "first") == {"lang": [3, None, 1]}
    assert made([True, False], "each") == {
        "lang[false]": ["no", "yes"],
        "lang[true]": ["yes", "no"],
    }


def test_lists_are_refused_with_the_choice_and_joined_text_is_noted():
    with pytest.raises(InputError, match=r"^users.csv: attribute 'lang' holds lists, .*lang:each"):
        made(LISTS, None)
    columns, note = split_values(pl.Series(LANGUAGES), "lang", None, "users.csv")
    assert columns["lang"].to_list() == LANGUAGES
    assert note is not None and "lang:first or lang:each" in note
    columns, note = split_values(pl.Series(["a", "b"]), "lang", None, "users.csv")
    assert (columns["lang"].to_list(), note) == (["a", "b"], None)


def test_too_many_values_are_not_made_attributes():
    values = [f"v{i}|x" for i in range(MOST_EACH)]
    with pytest.raises(InputError, match=r"51 different values.*from 1 to 50.*lang:first"):
        made(values, "each")
    assert len(made(values[1:], "each")) == MOST_EACH
    with pytest.raises(InputError, match="0 different values"):
        made(pl.Series([None, None], dtype=pl.String), "each")


EIGHT = ["fr|en", "en", "fr", "en|de", "de|fr", "en", "fr", "de"]


@pytest.mark.parametrize("values", [EIGHT, [text.split("|") for text in EIGHT]])
def test_an_audit_takes_each_value_as_an_attribute(values):
    predictions, users = two_groups(lang=values)
    result = audit(predictions, users, "lang:each")
    assert [*result.summary.attributes] == ["lang[de]", "lang[en]", "lang[fr]"]
    assert result.summary.by == ("lang:each",)
    groups = result.groups("mrr").filter(pl.col("depth") == 1, pl.col("lang[fr]") == "yes")
    # users 0, 2, 4, 6 have fr, and all of them are served at the first place
    assert (groups["support"].to_list(), groups["value"].to_list()) == ([4], [1.0])
    assert result.warnings == (
        "attribute 'lang' has several values for 3 of 8 users in the table, taken as lang:each",
    )


def test_groups_have_several_values_or_lack_one():
    predictions, users = two_groups(lang=EIGHT, gender=["F", "M"] * 4)
    result = audit(predictions, users, "gender,lang:each")
    langs = ["lang[de]", "lang[en]", "lang[fr]"]
    groups = result.groups("mrr").filter(pl.col("depth") < 4).select("gender", *langs)
    named = [{name: value for name, value in row.items() if value} for row in groups.to_dicts()]
    assert {"lang[en]": "yes", "lang[fr]": "yes"} in named
    assert {"lang[en]": "no"} in named
    # with another attribute, who lacks one is a group too
    assert {"gender": "F", "lang[en]": "no"} in named
    of_langs = [[group[one] for one in langs if one in group] for group in named]
    assert all(len(values) < 2 or {*values} == {"yes"} for values in of_langs)
