"""Attributes of users: what they may hold, how missing values are told, and codes of parts."""

from __future__ import annotations

import json
import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.inputs.formats import FileRows
from fairrec.inputs.tables import Table
from fairrec.inputs.users import (
    MISSING,
    Attribute,
    AttributeSpec,
    UsersSlice,
    encode_attribute,
    encode_attributes,
    read_users,
    users_sum,
)
from tests.builders import audit, two_groups


def _attribute(values: Any) -> Attribute:
    """The attribute `x` with these values, of users in that order."""
    frame = pl.DataFrame({"user_id": range(len(values)), "x": values}, strict=False)
    users = read_users(Table(frame, "users"), ["x"])
    (attribute,) = users.attributes(frame["user_id"].to_numpy())
    return attribute


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum])
def test_blanks_around_text_are_no_part_of_it_and_counted(kind: Any):
    texts = ["F", "F ", "\tM", "M", None, " F\u00a0", "a b"]
    kind = pl.Enum([text for text in texts if text]) if kind == pl.Enum else kind
    found = _attribute(pl.Series(texts, dtype=kind))
    assert found.values == ("F", "M", "a b", MISSING)
    assert found.codes.tolist() == [0, 0, 1, 1, 3, 0, 2]
    said = "attribute 'x': blanks around the text of 3 of 7 users are not a part of it"
    assert found.warnings[0] == said
    assert not any("blanks" in note for note in _attribute(["F", "a b"]).warnings)


def test_ordered_categories_keep_their_order_without_blanks():
    frame = pd.DataFrame({"user_id": range(4)})
    frame["x"] = pd.Categorical(
        [" old", "young", "old", "mid "], [" old", "mid ", "old", "young"], ordered=True
    )
    (attribute,) = read_users(Table(frame, "users"), ["x"]).attributes(np.arange(4))
    assert attribute.values == ("old", "mid", "young")
    assert attribute.codes.tolist() == [0, 2, 0, 1]


def test_notes_on_attributes_of_items_say_items():
    kinds = [None, " a", *map(str, range(30))]
    frame = pl.DataFrame({"item_id": range(32), "x": kinds, "y": ["en", *["fr"] * 30, "en|fr"]})
    items = read_users(Table(frame, "items"), ["x", "y"])
    notes = [note for one in items.attributes(np.arange(32)) for note in one.warnings]
    assert len(notes) == 4
    assert all(" of 32 items" in note or " for 31 items" in note for note in notes)
    with pytest.raises(InputError, match="one value an item"):
        read_users(Table(frame.with_columns(y=["en|fr", "fr"] * 16), "items"), ["y"])


def test_blanks_around_text_are_told_once_for_each_value():
    frame = pl.DataFrame({"user_id": range(4), "x": ["en", "en|fr ", "fr", " en"]})
    users = read_users(Table(frame, "users"), ["x:each"])
    notes = [note for spec in users.specs for note in spec.warnings if "blanks" in note]
    assert [spec.name for spec in users.specs] == ["x[en]", "x[fr]"]
    assert len(notes) == 1


def test_a_blank_field_of_a_text_file_is_no_value(tmp_path: Path):
    path = tmp_path / "users.csv"
    path.write_text("user_id,x\n0,F\n1,  \n2,F \n")
    (found,) = read_users(Table(path, "users"), ["x"]).attributes(np.arange(3))
    assert found.values == ("F", MISSING)
    assert found.codes.tolist() == [0, 1, 0]


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
    ("kind", "order"),
    [
        (pl.Categorical, ("a", "b", "z", MISSING)),
        (pl.Enum(["z", "b", "a"]), ("z", "b", "a", MISSING)),
    ],
    ids=str,
)
def test_categories_are_text_in_their_order_or_that_of_text(kind: Any, order: tuple[str, ...]):
    values = ["b", "a", None, "z"]
    attribute = _attribute(pl.Series(values, dtype=kind))
    assert attribute.values == order
    assert [order[code] for code in attribute.codes] == [value or MISSING for value in values]


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


def test_missing_values_are_said_in_the_result_and_form_a_group():
    predictions, users = two_groups(x=["a", None] * 4, y=[1.0, float("nan"), None, 2.0] * 2)
    result = audit(predictions, users, "x,y")
    assert result.summary.attributes["x"].n_missing == 4
    assert result.summary.attributes["y"].n_missing == 4
    assert (
        "attribute 'x' is missing for 4 of 8 users; they form the value '(missing)'"
        in result.warnings
    )
    assert any(warning.startswith("attribute 'y' is missing for 4") for warning in result.warnings)
    groups = result.groups("mrr").filter(pl.col("depth") == 1, pl.col("x") == MISSING)
    assert groups["support"].to_list() == [4]
    assert groups["value"].to_list() == [1 / 2]
    assert result.per_user["x"].to_list() == ["a", MISSING] * 4
    assert json.loads(result.to_json())["attributes"]["x"]["n_missing"] == 4


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA, pd.NaT])
def test_every_gap_of_pandas_is_missing(gap: Any):
    predictions, users = two_groups(x=["a", "b"] * 4)
    frame = users.to_pandas()
    frame["x"] = pd.Series(["a", gap] * 4, dtype=object)
    result = audit(predictions, frame, "x")
    assert result.gap("mrr").disadvantaged.group == {"x": MISSING}
    assert result.summary.attributes["x"].n_missing == 4


def test_the_text_for_missing_and_no_value_count_as_one_and_it_is_said():
    attribute = _attribute(["a", MISSING, None])
    assert attribute.values == (MISSING, "a")
    assert attribute.codes.tolist() == [1, 0, 0]
    assert attribute.n_missing == 1
    assert any("count as one" in warning for warning in attribute.warnings)


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
        ([f"name {i}" for i in range(60)], "60 different values for 60 users.*id or free text"),
        ([f"name {i // 2}" for i in range(60)], None),
        ([f"name {i}" for i in range(19)], None),
        ([f"name {i}" for i in range(1001)] * 3, "has 1,001 different values; group its values"),
        ([f"name {i}" for i in range(1001)] * 101, None),
        ([*range(51)] * 99, "51 different numbers; .*x:q5"),
        ([*range(51)] * 100, None),
        ([*range(50)], None),
    ],
    ids=["own", "pairs", "few", "many", "large", "numbers", "enough", "fifty"],
)
def test_values_that_are_too_many_are_said_with_the_remedy(values: list[Any], says: str | None):
    warnings = _attribute(values).warnings
    assert len(warnings) == (says is not None)
    if says is not None:
        assert re.search(says, warnings[0])


@pytest.mark.parametrize(
    "values", [[[1], [2]], [{"a": 1}, {"a": 2}], [["x", "y"], []]], ids=["lists", "structs", "text"]
)
def test_an_attribute_of_lists_or_structs_is_refused(values: list[Any]):
    predictions, users = two_groups(x=values * 4)
    with pytest.raises(InputError, match=r"users table: attribute 'x' holds.*one value a user"):
        audit(predictions, users, "x")


@pytest.mark.parametrize("others", [[1.0], [1.5]], ids=["whole", "fractions"])
def test_an_infinite_attribute_is_refused(others: list[float]):
    predictions, users = two_groups(x=[*others, float("inf")] * 4)
    with pytest.raises(InputError, match=r"attribute 'x'.*infinite"):
        audit(predictions, users, "x")


@pytest.mark.parametrize("by", ["user_id", "uid"])
def test_the_user_id_is_no_attribute(by: str):
    predictions, users = two_groups()
    with pytest.raises(InputError, match=f"'{by}' is the user id itself"):
        audit(predictions, users.rename({"user_id": by}), by)
    for how in ("1", "q5", "first"):
        with pytest.raises(InputError, match=f"'{by}' is the user id itself"):
            audit(predictions, users.rename({"user_id": by}), f"{by}:{how}")
        with pytest.raises(InputError, match=f"'{by}' is the user id itself"):
            audit(predictions, users.rename({"user_id": by}), "group", adjust_for=f"{by}:{how}")


@pytest.mark.parametrize(
    "name",
    ["favourite colour", "âge", "年齢", "home:town", "age:10", "a.b", "=x", "literal", "x|y", "📎"],
)
def test_an_attribute_may_have_any_name(name: str):
    predictions, users = two_groups(**{name: ["a", "b"] * 4, "other": [1, 2, 3, 4] * 2})
    result = audit(predictions, users, f"{name},other")
    assert result.gap("mrr").advantaged.group[name] == "a"
    assert name in result.per_user.columns
    assert name in result.group_table.columns
    assert [*result.summary.attributes] == [name, "other"]


def test_a_column_whose_name_looks_like_a_binning_is_taken_as_it_is():
    predictions, users = two_groups(**{"age:10": ["a", "b"] * 4, "age": [1, 50] * 4})
    assert audit(predictions, users, "age:10").gap("mrr").advantaged.group == {"age:10": "a"}


def test_an_attribute_with_a_colon_in_its_name_can_be_binned():
    predictions, users = two_groups(**{"a:b": [1, 11] * 4})
    assert audit(predictions, users, "a:b:10").gap("mrr").advantaged.group == {"a:b": "0-9"}


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


def test_leading_zeros_of_an_attribute_in_csv_are_kept(tmp_path):
    predictions, users = two_groups(zip_code=["02139", "94110"] * 4, age=[30, 40] * 4)
    users.write_csv(tmp_path / "users.csv")
    result = audit(predictions, tmp_path / "users.csv", ["zip_code", "age"])
    assert set(result.per_user["zip_code"]) == {"02139", "94110"}
    assert result.gap("mrr").advantaged.group["age"] in (30, 40)


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
        "user_id": [5, 3, 9, 1],
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
    # half a year makes no difference unless somebody who is audited has it
    assert width.audited.values == ("20-29", "30-39", "60-69")
    assert width.everyone.values == ("[20, 30)", "[30, 40)", "[50, 60)", "[60, 70)")
    assert quantiles.audited.values == ("q1 [20, 35]", "q2 [61, 61]")
    assert columns["audited 3"].to_list() == [0, 1, -1, 2]
    assert columns["all 3"].to_list() == [0, 1, 2, 3]
    assert columns["audited 3"].dtype == pl.Int8


def test_users_of_a_part_are_sorted_and_have_their_attributes(tmp_path: Path):
    columns, found = encode_attributes(Table(USERS, "users"), ["age:10"], np.ones(4, dtype=bool))
    file = tmp_path / "users.parquet"
    pl.DataFrame({"id": USERS["user_id"], **columns}).write_parquet(file)

    def some(stop: int) -> UsersSlice:
        rows = (FileRows(file, 0, stop),)
        return UsersSlice("users", file, rows, columns=("user_id", "age"), attributes=found)

    mine = read_users(Table(some(3), "users"), ["age:10"])
    assert mine.ids.to_list() == [3, 5, 9]
    (age,) = mine.attributes(np.arange(3))
    assert age.labels.to_list() == ["[30, 40)", "[20, 30)", "[50, 60)"]
    assert len(read_users(Table(some(0), "users"), ["age:10"]).ids) == 0


def test_whole_decimals_beyond_exact_floats_are_groups_of_their_own():
    values = pl.Series([2**60, 2**60 + 1, 2**60]).cast(pl.Decimal(38, 0))
    found = encode_attribute(values, AttributeSpec("seller", "seller"), "users")
    assert found.values == (2**60, 2**60 + 1) and found.codes.tolist() == [0, 1, 0]
    halves = encode_attribute(
        pl.Series(["0.50", "0.25"]).cast(pl.Decimal(9, 2)), AttributeSpec("x", "x"), ""
    )
    assert halves.values == (0.25, 0.5)
