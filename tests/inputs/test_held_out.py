"""Held-out interactions: whose they are, what they count, and the notes on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.inputs.audit_inputs import AuditInputs, open_tables, read_tables
from fairrec.inputs.columns import Relevance
from fairrec.inputs.held_out import HeldOut, read_held_out
from fairrec.inputs.notes import in_words
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from tests.builders import audit, values_of
from tests.recommendations import FORMS, Form, Served

USER_IDS = pl.Series(["a", "b", "c"])


def read(
    rows, columns=("user_id", "item_id"), relevant=None, user_ids=USER_IDS, gain=None
) -> HeldOut:
    table = pl.DataFrame(rows, schema=list(columns), orient="row", strict=False)
    condition = None if relevant is None else Relevance.parse(relevant)
    return read_held_out(Table(table, "test"), user_ids, "the users table", condition, gain)


def by_user(held_out: HeldOut) -> list[dict]:
    bounds = zip(held_out.offsets[:-1], held_out.offsets[1:], strict=True)
    return [
        dict(
            zip(
                held_out.item_ids.gather(held_out.items[a:b]).to_list(),
                held_out.gains[a:b].tolist(),
                strict=True,
            )
        )
        for a, b in bounds
    ]


def test_items_stand_with_their_user_and_count_1_without_a_grade():
    held_out = read([("c", 3), ("a", 1), ("c", 2)])
    assert by_user(held_out) == [{1: 1}, {}, {2: 1, 3: 1}]
    assert held_out.has_rows.tolist() == [True, False, True]
    assert in_words(held_out.notes) == ()


GRADED = ("user_id", "item_id", "rating")


def test_grades_weigh_nothing_unless_asked_for_and_it_is_said_first():
    held_out = read([("a", 1, 2), ("a", 2, 5), ("a", 3, 2), ("b", 1, 5)], GRADED)
    assert by_user(held_out) == [{1: 1, 2: 1, 3: 1}, {1: 1}, {}]
    assert in_words(held_out.notes) == (
        "check: the test table: held-out items are equally relevant, whatever their 'rating' "
        "(2 to 5). To weigh ndcg by it: gain='rating'; to count only some: "
        "relevant='rating>=NUMBER'",
    )
    # one grade for all weighs nothing
    assert in_words(read([("a", 1, 4), ("b", 2, 4)], GRADED).notes) == ()


@pytest.mark.parametrize(("column", "gain"), [("rating", "rating"), ("r_ui", "rating"), ("x", "X")])
def test_grades_that_are_asked_for_are_gains_the_largest_first(column, gain):
    rows = [("a", 1, 2), ("a", 2, 5), ("a", 3, 2), ("b", 1, 5), ("b", 2, 0)]
    held_out = read(rows, ("user_id", "item_id", column), gain=gain)
    assert [*by_user(held_out)[0].items()] == [(2, 5), (1, 2), (3, 2)]
    said = f"the test table: the 1 rows with 0 in '{column}' are not relevant"
    assert in_words(held_out.notes) == (said,)


def test_a_condition_says_which_items_are_weighed():
    rows = [("a", 1, 5, 1), ("a", 2, 3, 7), ("b", 1, 4, 0), ("b", 3, 4, 2)]
    columns = ("user_id", "item_id", "rating", "hours")
    held_out = read(rows, columns, "rating>=4", gain="hours")
    assert by_user(held_out) == [{1: 1}, {3: 2}, {}]
    assert by_user(read(rows, columns, "rating>=4", gain="rating")) == [{1: 5}, {1: 4, 3: 4}, {}]


def test_a_grade_of_0_is_not_relevant_and_said():
    held_out = read([("a", 1, 0), ("a", 2, 1), ("b", 1, 0)], GRADED)
    assert by_user(held_out) == [{2: 1}, {}, {}]
    (said,) = in_words(held_out.notes)
    assert said == "the test table: the 2 rows with 0 in 'rating' are not relevant"


def test_a_pair_that_comes_twice_counts_once_by_its_largest_gain():
    rows = [("a", 1, 2), ("b", 1, 3), ("a", 1, 4), ("a", 1, 3)]
    held_out = read(rows, GRADED, gain="rating")
    assert by_user(held_out) == [{1: 4}, {1: 3}, {}]
    assert in_words(held_out.notes)[-1] == (
        "the test table: 2 of 4 held-out rows repeat a user and item; such a pair counts once"
    )


def test_users_without_attributes_are_counted_and_left_out():
    held_out = read([("a", 1), *((user, 1) for user in "xyzvx")])
    assert by_user(held_out) == [{1: 1}, {}, {}]
    said = "4 users of the test table are not in the users table and are left out"
    assert in_words(held_out.notes) == (said,)


@pytest.mark.parametrize(
    ("rows", "relevant", "says"),
    [
        (
            [("x", 1, 1), ("y", 1, 1)],
            None,
            "the test table: none of its 2 users is in the users table, such as x, y. Check "
            "that both tables use the same user ids.",
        ),
        (
            [("a", 1, -1), ("a", 2, 1)],
            None,
            "the test table: column 'rating' has values below 0 (such as -1), which are no gains. "
            "Say which rows are relevant: relevant='rating>0'",
        ),
        (
            [("a", 1, 0), ("b", 1, 0)],
            None,
            "the test table: column 'rating' is 0 in every row, so nothing is relevant. Fix it, or "
            "say which rows are relevant: relevant='rating>=0'",
        ),
        (
            [("a", 1, 3)],
            "rating>=9",
            "the test table: no row meets relevant='rating>=9'. Nothing would be relevant; choose "
            "another threshold.",
        ),
    ],
    ids=["other users", "below 0", "all 0", "none meets it"],
)
def test_what_cannot_be_used_is_refused_with_the_remedy(rows, relevant, says):
    with pytest.raises(InputError) as caught:
        read(rows, GRADED, relevant)
    assert str(caught.value) == says


def labels(held_out: HeldOut, lists: list[list], rows: list[int], item_ids: pl.Series):
    code = {item: at for at, item in enumerate(item_ids.to_list())}
    items = np.array([code[item] for one in lists for item in one], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, lists)])
    return held_out.take(np.array(rows)).labels(offsets, items, item_ids).tolist()


def test_a_recommended_item_has_the_gain_it_has_for_its_own_user():
    held_out = read([("a", 1, 2), ("b", 2, 5), ("b", 9, 3)], GRADED, gain="rating")
    # the lists of c, b and a; 9 is held out and never recommended
    found = labels(held_out, [[1, 2], [1, 2, 3], [3, 2, 1]], [2, 1, 0], pl.Series([1, 2, 3]))
    assert found == [0, 0, 0, 5, 0, 0, 0, 2]
    of_lists = held_out.take(np.array([2, 1, 0]))
    assert of_lists.n_relevant.tolist() == [0, 2, 1]
    assert of_lists.gains.tolist() == [5, 3, 2]
    assert of_lists.take(np.array([2, 1])).gains.tolist() == [2, 5, 3]


@pytest.mark.parametrize(
    ("test_items", "recommended"),
    [([1, 7], ["1", "2"]), (["1", "7"], [1, 2]), ([1.0, 7.0], [1, 2]), (["i1", "7"], ["i1", "2"])],
    ids=["numbers and text", "text and numbers", "fractions", "text"],
)
def test_ids_of_other_kinds_are_the_same_ids(test_items, recommended):
    held_out = read([("a", item) for item in test_items])
    assert labels(held_out, [recommended], [0], pl.Series(recommended)) == [1, 0]


def test_items_that_are_never_recommended_are_other_ids():
    test = pl.DataFrame({"user_id": ["a", "b"], "item_id": ["tt1", "tt2"]})
    lists = pl.DataFrame({"user_id": ["a", "b"], "item_id": [1, 2], "rank": [1, 1]})
    users = pl.DataFrame({"user_id": ["a", "b"], "g": ["x", "y"]})
    says = "none of its items is ever recommended. Items there: tt1, tt2; recommended: 1, 2"
    with pytest.raises(InputError, match=says.replace(".", "[.]")):
        audit(lists, users, "g", test=test)


@settings(max_examples=40)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("abcx"), st.integers(0, 4), st.integers(0, 3)), min_size=1
    ),
    lists=st.lists(st.lists(st.integers(0, 6), unique=True), min_size=3, max_size=3),
    rows_of_lists=st.permutations([0, 1, 2]),
    seed=st.integers(0, 9),
)
def test_gains_and_labels_are_those_of_dictionaries_in_any_order_of_rows(
    rows, lists, rows_of_lists, seed
):
    rows = [("a", 0, 1), *rows]
    gains: dict[str, dict[int, float]] = {user: {} for user in "abc"}
    for user, item, gain in rows:
        if user in gains and gain:
            gains[user][item] = max(gain, gains[user].get(item, 0))
    shuffled = [rows[at] for at in np.random.default_rng(seed).permutation(len(rows))]
    held_out = read(shuffled, GRADED, gain="rating")
    assert by_user(held_out) == [gains[user] for user in "abc"]
    for one in by_user(held_out):
        assert [*one.values()] == sorted(one.values(), reverse=True)
    found = labels(held_out, lists, rows_of_lists, pl.Series(range(7)))
    expected = [
        gains["abc"[row]].get(item, 0)
        for row, items in zip(rows_of_lists, lists, strict=True)
        for item in items
    ]
    assert found == expected


# a has a hit, b a list without one, c no list, d nothing held out, e neither
SERVED = Served(
    {"a": [1, 2], "b": [3, 2], "d": [1]}, {"a": {1: 1.0}, "b": {1: 1.0, 5: 1.0}, "c": {2: 1.0}}
)
USERS = pl.DataFrame({"user_id": [*"edcba"], "group": [*"yxyxy"]})
OPTIONS: dict[str, Any] = {"users": USERS, "test": SERVED.test(), "by": "group"}


def read_user_lists(form: Form = "score", **options: Any) -> AuditInputs:
    given = TableOptions(**{**OPTIONS, **options})
    return read_tables(open_tables(SERVED.recommendations(form), given), given, needs={"labels"})


@pytest.mark.parametrize("form", FORMS)
def test_who_has_held_out_items_and_no_list_is_audited_with_an_empty_one(form):
    inputs = read_user_lists(form)
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
    inputs = read_user_lists(form, missing_lists="drop")
    assert inputs.user_ids.to_list() == [*"abd"]
    # c is the third of the users in the order of their ids
    assert inputs.absent.tolist() == [2]
    assert inputs.is_expected.tolist() == [True, True, False]


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


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"missing_lists": "drop", "test": None}, r"missing_lists='drop' is about users with held"),
        ({"values": USERS}, r"values are measured already. Leave out predictions"),
        ({"gain": "rating", "test": None}, r"gain='rating' is a column of the held-out interactio"),
        ({"missing_lists": "skip"}, r"invalid missing_lists: expected .*zero.*drop"),
    ],
)
def test_what_does_not_go_together_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        read_user_lists(**options)


def test_values_stand_for_themselves():
    given = TableOptions(values=USERS, by="group", test=USERS, relevant="x>1")
    with pytest.raises(InputError, match="values are measured already"):
        open_tables(None, given)
