"""Circumstances of users: counted in tables or columns of the users, in bins as attributes are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError, as_python
from fairrec.inputs.users import MISSING
from fairrec.metrics.circumstances import counted_circumstances
from fairrec.metrics.parsing import parse_metric
from fairrec.metrics.reading import read_inputs
from tests.builders import make_tables

N_USERS = 48
NDCG = [parse_metric("ndcg@5")]
TABLES = make_tables(N_USERS, text_ids=False)


def read(given="", **changes):
    tables = {
        "predictions": TABLES.predictions,
        "users": TABLES.users,
        "history": TABLES.history,
        "by": "gender",
        "metrics": "ndcg@5",
        "adjust_for": given,
        **changes,
    }
    return read_inputs(**tables)[0]


def by_user(inputs) -> list[dict]:
    """The value of each user for each circumstance, users in the order of their ids."""
    return [
        {one.name: one.values[one.codes[user]] for one in inputs.circumstances}
        for user in range(inputs.n_users)
    ]


def test_lengths_and_relevant_items_are_counted_user_by_user():
    lists = TABLES.predictions.group_by("user_id").agg(pl.len(), pl.col("label").sum())
    found = by_user(read("list_length,n_relevant,history_length"))
    expected = {
        user: {"list_length": n, "n_relevant": n_relevant, "history_length": 3}
        for user, n, n_relevant in lists.rows()
    }
    assert found == [expected[user] for user in sorted(expected)]


def test_held_out_items_are_the_relevant_ones_recommended_or_not():
    test = TABLES.history.filter(pl.col("user_id") <= 20).unique()
    inputs = read("n_relevant", test=test, history=None)
    n_held_out = dict(test.group_by("user_id").len().rows())
    found = [one["n_relevant"] for one in by_user(inputs)]
    assert found == [n_held_out.get(user, 0) for user in range(1, N_USERS + 1)]


def test_a_column_of_users_is_one_and_unknown_is_a_value_of_its_own():
    inputs = read("age:20,member")
    ages = TABLES.users["age"].to_list()
    for user, found in enumerate(by_user(inputs)):
        age = ages[user]
        low = None if age is None else age // 20 * 20
        assert found["age"] == (MISSING if low is None else f"{low}-{low + 19}")
        assert found["member"] == TABLES.users["member"][user]
    (age, _) = inputs.circumstances
    assert age.n_missing == TABLES.users["age"].null_count() > 0
    assert any("is missing for" in warning for warning in age.warnings)


def test_many_numbers_are_compared_in_fifths_and_that_is_said(tmp_path):
    (age,) = read("age").circumstances
    assert age.binning == "5 quantiles"
    (note,) = [note for note in age.warnings if "fifths" in note]
    assert "different numbers" in note and "age:10" in note
    assert "for each number by itself: adjust_for=['age:1']" in as_python(note)
    (by_itself,) = read("age:1").circumstances
    assert len(by_itself.values) > 10
    many = TABLES.users.with_columns(income=pl.col("user_id") + 0.5)
    (income,) = read("income", users=many).circumstances
    assert "by itself" not in income.warnings[0]
    few = read("n_relevant").circumstances[0]
    assert (few.binning, few.warnings) == (None, ())
    TABLES.users.write_csv(tmp_path / "users.csv")
    (from_text,) = read("age", users=tmp_path / "users.csv").circumstances
    assert from_text.codes.tolist() == age.codes.tolist()


def test_a_column_with_the_name_of_what_is_counted_is_taken_and_that_is_said():
    own = TABLES.users.with_columns(list_length=pl.lit("short"))
    (found,) = read("list_length", users=own).circumstances
    assert found.values == ("short",)
    assert "the column of" in found.warnings[0]


@pytest.mark.parametrize(
    ("given", "changes", "says"),
    [
        ("gender", {}, "'gender' is in by and in adjust_for"),
        ("age:q5", {"by": "age:10"}, "'age' is in by and in adjust_for"),
        ("age,age:10", {}, "'age' is named twice in adjust_for"),
        ("lenght", {}, "o circumstance 'lenght'"),
        ("list_lenght:q5", {}, "Did you mean 'list_length'"),
        ("history_length", {"history": None}, "Give them: history=..."),
        ("list_length:0", {}, "is no binning"),
        (
            "list_length",
            {"predictions": None, "history": None, "metrics": None, "values": TABLES.users},
            "is counted in lists",
        ),
        (
            "n_relevant",
            {"predictions": TABLES.predictions.drop("label"), "metrics": "urp@5"},
            "has no labels",
        ),
    ],
)
def test_what_cannot_be_given_is_refused(given, changes, says):
    with pytest.raises(InputError) as caught:
        read(given, **changes)
    assert says in str(caught.value)


def test_a_circumstance_that_all_share_is_said_to_adjust_nothing():
    (shared, _) = read("history_length,n_relevant").circumstances
    assert shared.warnings == (
        "history_length is the same for everyone, so nothing is adjusted for it",
    )


def test_what_is_audited_is_no_circumstance_of_itself():
    values = TABLES.users.select("user_id", "gender", seen=pl.col("user_id") * 1.0)
    for given in ("seen", "seen:q2"):
        with pytest.raises(InputError, match=r"^'seen' is audited and in adjust_for"):
            read_inputs(values=values, by="gender", metrics="seen", adjust_for=given)


def test_values_that_are_given_are_no_metric():
    values = TABLES.users.select("user_id", "gender", "age", seen=pl.col("user_id") * 1.0)
    inputs, wanted = read_inputs(values=values, by="gender", adjust_for="age:q2")
    assert [metric.name for metric in wanted] == ["seen"]
    assert [one.name for one in inputs.circumstances] == ["age"]


def test_all_that_can_be_counted_is_looked_at_unless_it_is_given():
    names = [one.name for one in counted_circumstances(read("list_length:3"), NDCG)]
    assert names == ["n_relevant", "history_length"]
    without = read(
        history=None,
        predictions=TABLES.predictions.drop("label"),
        metrics="urd@5",
        items=TABLES.items,
    )
    (one,) = counted_circumstances(without, NDCG)
    assert one.name == "list_length"
    assert (
        one.numbers.tolist() == np.diff(without.candidates.offsets)[without.list_of_user].tolist()
    )
    values = read_inputs(values=TABLES.users.drop("gender"), users=TABLES.users, by="gender")[0]
    assert counted_circumstances(values, NDCG) == ()
