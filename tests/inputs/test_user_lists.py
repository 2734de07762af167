"""Whose lists are audited: with labels, with held-out interactions, or values alone."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.audit_inputs import AuditInputs, open_tables, read_tables
from fairrec.inputs.table_options import TableOptions
from tests.builders import audit, values_of
from tests.recommendations import FORMS, Form, Served

# a has a hit, b a list without one, c no list, d nothing held out, e neither
SERVED = Served(
    {"a": [1, 2], "b": [3, 2], "d": [1]}, {"a": {1: 1.0}, "b": {1: 1.0, 5: 1.0}, "c": {2: 1.0}}
)
USERS = pl.DataFrame({"user_id": [*"edcba"], "group": [*"yxyxy"]})
OPTIONS: dict[str, Any] = {"users": USERS, "test": SERVED.test(), "by": "group"}


def read(form: Form = "score", **options: Any) -> AuditInputs:
    given = TableOptions(**{**OPTIONS, **options})
    return read_tables(open_tables(SERVED.recommendations(form), given), given, needs={"labels"})


@pytest.mark.parametrize("form", FORMS)
def test_who_has_held_out_items_and_no_list_is_audited_with_an_empty_one(form):
    inputs = read(form)
    assert inputs.user_ids.to_list() == [*"abcd"]
    assert inputs.is_without_list.tolist() == [False, False, True, False]
    assert inputs.is_expected.tolist() == [True, True, True, False]
    assert inputs.absent.tolist() == []
    lists = inputs.list_of_user
    assert inputs.candidates.held_out.n_relevant[lists].tolist() == [1, 2, 1, 0]
    assert inputs.for_users([2, 3]).is_without_list.tolist() == [True, False]
    assert inputs.for_users([2, 3]).candidates.held_out.n_relevant.tolist() == [1, 0]


@pytest.mark.parametrize("form", FORMS)
def test_or_is_left_out_and_counted(form):
    inputs = read(form, missing_lists="drop")
    assert inputs.user_ids.to_list() == [*"abd"]
    # c is the third of the users in the order of their ids
    assert inputs.absent.tolist() == [2]
    assert inputs.is_expected.tolist() == [True, True, False]


def test_an_empty_list_is_none():
    lists = pl.DataFrame(
        {"user_id": [*"abcd"], "item_id": [[1, 2], [], [], []]},
        schema_overrides={"item_id": pl.List(pl.Int64)},
    )
    for missing_lists, audited, absent in (("zero", "abcd", []), ("drop", "ad", [1, 2])):
        given = TableOptions(**OPTIONS, missing_lists=missing_lists)
        inputs = read_tables(open_tables(lists, given), given, needs={"labels"})
        assert inputs.user_ids.to_list() == [*audited]
        assert inputs.absent.tolist() == absent
        # d, of whom nothing was held out, has the coverage of an empty list
        assert inputs.is_without_list[-1]


def test_zero_and_drop_differ_in_those_without_a_list_alone():
    options = {"metrics": "recall@2,coverage@2", "max_undefined": 1, "permutations": 0}
    lists, test = SERVED.recommendations(), SERVED.test()
    zero = audit(lists, USERS, "group", test=test, **options)
    drop = audit(lists, USERS, "group", test=test, missing_lists="drop", **options)
    assert values_of(zero, "recall@2", [*"abcd"]) == [1, 0, 0, None]
    assert values_of(zero, "coverage@2", [*"abcd"]) == [1, 1, 0, 1 / 2]
    assert values_of(drop, "recall@2", [*"abd"]) == [1, 0, None]
    assert values_of(drop, "coverage@2", [*"abd"]) == [1, 1, 1 / 2]
    for result, is_zero, kinds in (
        (zero, True, ["no list", "no held-out items", "not evaluated"]),
        (drop, False, ["no list", "no held-out items", "not evaluated"]),
    ):
        assert [one.kind for one in result.summary.missing] == kinds
        without = result.summary.missing[0]
        assert (without.n_missing, without.n_users, without.counts_as_zero) == (1, 3, is_zero)
    assert zero.metrics["recall@2"].undefined_share == 0
    assert drop.metrics["recall@2"].undefined_share == 1 / 3
    assert (zero.summary.missing_lists, drop.summary.missing_lists) == ("zero", "drop")


def test_users_of_whom_nothing_is_known_are_kept_apart():
    assert read().unseen.tolist() == [4]
    more = pl.concat([USERS, pl.DataFrame({"user_id": ["f"], "group": ["x"]})])
    assert read(users=more).unseen.tolist() == [4, 5]


def test_whoever_has_a_held_out_row_is_expected_relevant_or_not():
    test = pl.DataFrame({"user_id": [*"abc"], "item_id": [1, 2, 3], "rating": [5, 1, 1]})
    lists = pl.DataFrame({"user_id": [*"ab"], "item_id": [1, 2], "rank": [1, 1]})
    given = TableOptions(test=test, users=USERS, by="group", relevant="rating>=4")
    inputs = read_tables(open_tables(lists, given), given, needs={"labels"})
    assert inputs.user_ids.to_list() == [*"abc"]
    assert inputs.is_expected.tolist() == [True, True, True]
    assert inputs.is_without_list.tolist() == [False, False, True]
    assert inputs.candidates.held_out.n_relevant.tolist() == [1, 0, 0]
    assert inputs.unseen.tolist() == [3, 4]


def test_items_that_are_numbers_here_and_text_there_are_noted():
    test = pl.DataFrame({"user_id": ["a", "b"], "item_id": ["1", "02"]})
    lists = pl.DataFrame({"user_id": ["a", "b"], "item_id": [1, 2], "rank": [1, 1]})
    result = audit(lists, USERS, "group", test=test, metrics="recall@2")
    assert values_of(result, "recall@2", [*"ab"]) == [1, 0]
    assert any("whole numbers in the predictions table and text" in w for w in result.warnings)


def test_not_a_single_hit_is_noted():
    test = pl.DataFrame({"user_id": ["a", "b"], "item_id": [2, 1]})
    lists = pl.DataFrame({"user_id": ["a", "b"], "item_id": [1, 2], "rank": [1, 1]})
    result = audit(lists, USERS, "group", test=test, metrics="recall@2")
    assert any(w.startswith("check: not one recommended item is held out") for w in result.warnings)


def test_labels_beside_recommendations_are_not_looked_at_and_it_is_said():
    lists = SERVED.recommendations().with_columns(label=1)
    result = audit(lists, USERS, "group", test=SERVED.test(), metrics="recall@2")
    assert values_of(result, "recall@2", [*"ab"]) == [1, 0]
    said = "the labels in the predictions table are not looked at: the test table says what is "
    assert f"{said}relevant" in result.warnings


def test_labels_alone_leave_whoever_has_no_list_out():
    lists = SERVED.recommendations().with_columns(label=1)
    given = TableOptions(users=USERS, by="group")
    inputs = read_tables(open_tables(lists, given), given, needs={"labels"})
    assert inputs.absent.tolist() == [2, 4]
    assert inputs.candidates.held_out is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"missing_lists": "drop", "test": None}, r"missing_lists='drop' is about users with held"),
        ({"values": USERS}, r"values stands for itself: leave out the predictions table"),
        ({"gain": "rating", "test": None}, r"gain='rating' is a column of the held-out interactio"),
        ({"missing_lists": "skip"}, r"invalid missing_lists: expected .*zero.*drop"),
    ],
)
def test_what_does_not_go_together_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        read(**options)


@pytest.mark.parametrize("table", ["test", "items", "history"])
def test_values_stand_for_themselves(table):
    given = TableOptions(values=USERS, by="group", **{table: USERS})
    with pytest.raises(InputError, match=f"values stands for itself: leave out the {table} table"):
        open_tables(None, given)
    given = TableOptions(values=USERS, by="group", relevant="x>1")
    with pytest.raises(InputError, match="relevant is about held-out items or candidates, and va"):
        open_tables(None, given)
