"""Ids that are the same but for case, blanks, leading zeros or Unicode form."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.inputs.mismatched_ids import describe_alike_values, find_spellings
from tests.builders import audit, values_of
from tests.grouped_options import group_options

USERS = pl.DataFrame({"user_id": [*"abcd"], "g": [*"xyxy"]})
CAFE = unicodedata.normalize("NFD", "café")


@pytest.mark.parametrize(
    ("here", "there", "pairs"),
    [
        (["A1", "b"], ["a1", "b"], (("A1", "a1"),)),
        ([" a", "b"], ["a", "b"], ((" a", "a"),)),
        (["007", "0x"], [7, 8], (("007", "7"),)),
        ([CAFE, "b"], ["café", "b"], ((CAFE, "café"),)),
        (["a", "b"], ["a", "b", "B"], ()),
        (["0", "00a"], ["a", "1"], ()),
        ([1, 2], [2, 3], ()),
        ([], ["a"], ()),
        (["a\u200b", "b"], ["a", "b"], (("a\u200b", "a"),)),
        (["\uff11", "b"], ["1", "b"], (("\uff11", "1"),)),
    ],
    ids=[
        *("case", "blank", "zeros", "Unicode", "both there", "a zero", "numbers", "none"),
        *("no width", "full width"),
    ],
)
def test_ids_that_differ_in_how_they_are_written_are_found(here, there, pairs):
    ids, keys = pl.Series(here, dtype=None if here else pl.String), pl.Series(there)
    note = find_spellings("item", ids, "test.csv", keys, "recs.csv")
    assert (note.n, note.pairs) == (len(pairs), pairs)
    assert bool(str(note)) == bool(pairs)


def test_users_of_parts_add_up_and_items_do_not():
    for what, n in (("user", 2), ("item", 1)):
        one, other = (
            find_spellings(what, pl.Series([at.upper()]), "t", pl.Series([at]), "p") for at in "ab"
        )
        both = one + other
        assert (both.n, both.pairs) == (n, (("A", "a"), ("B", "b")))


LISTS = pl.DataFrame({"user_id": [*"abc"], "item_id": ["i", "j", "k"], "rank": [1, 1, 1]})


def checks(lists: pl.DataFrame, test: pl.DataFrame, users: pl.DataFrame = USERS) -> list[str]:
    result = audit(lists, users, "g", test=test, metrics="recall@1", permutations=0)
    return [one for one in result.warnings if "written differently" in one]


def test_items_written_in_two_ways_are_noted_with_examples():
    test = pl.DataFrame({"user_id": [*"abc"], "item_id": ["i", "J", "k"]})
    assert checks(LISTS, test) == [
        "check: 1 item id is written differently in the test table and the predictions table ('J' "
        "and 'j'), and so is not the same item. Write ids alike: case, blanks, leading zeros and "
        "Unicode form (NFKC) count"
    ]
    # the other way round: lists have both, and one of them is held out
    lists = LISTS.with_columns(item_id=pl.Series(["i", "I", "k"]))
    (said,) = checks(lists, test.with_columns(item_id=pl.lit("i")))
    assert "('I' and 'i')" in said


def test_users_written_in_two_ways_are_noted():
    test = pl.DataFrame({"user_id": ["a", "B", "c"], "item_id": ["i", "j", "k"]})
    (said,) = checks(LISTS, test)
    assert "1 user id is written differently in the test table and the users table ('B'" in said
    # both may have a row of attributes, one for its list and one for what was held out
    both = pl.concat([USERS, pl.DataFrame({"user_id": ["B"], "g": ["y"]})])
    (said,) = checks(LISTS, test, both)
    assert "in the test table and the predictions table ('B' and 'b')" in said


def test_unknown_users_of_the_lists_are_named_with_how_they_are_written_elsewhere():
    with pytest.raises(InputError, match=r"not known\)\. 1 user id is written differently in the "):
        audit(LISTS.with_columns(user_id=pl.Series(["a", "B", "c"])), USERS, "g", test=LISTS)


def test_other_tables_are_compared_no_longer_than_ids_differ():
    test = pl.DataFrame({"user_id": [*"abc"], "item_id": ["i", "j", "k"]})
    assert checks(LISTS, test) == []
    result = audit(LISTS, USERS, "g", test=test, metrics="recall@1", permutations=0)
    assert values_of(result, "recall@1", [*"abc"]) == [1, 1, 1]


@pytest.mark.parametrize("values", [["M", "m"], ["é", "e\u0301"], ["01", "1"], ["a b", "a\u00a0b"]])
@pytest.mark.parametrize("way", ["rows", "counts"])
def test_groups_that_differ_in_how_they_are_written_are_noted(way, values):
    users = pl.DataFrame({"user_id": [*"abcdef"], "g": [*values, "x"] * 2})
    values_table = pl.DataFrame({"user_id": [*"abcdef"], "watch": range(6)})
    tables = {"values": values_table, "users": users}
    if way == "counts":
        tables = {"counts": fairrec.count(**group_options(**tables, by="g"))}
    result = fairrec.audit(
        **group_options(
            **tables, **({"by": "g"} if way == "rows" else {}), permutations=0, min_support=1
        )
    )
    one, other = sorted(values)
    said = (
        "check: attribute 'g': 2 values differ from another only in case, blanks, leading zeros "
        "or Unicode form, and are groups of their own"
    )
    assert f"{said}, such as {one!a} and {other!a}" in result.warnings
    assert said in result.shown(2).warnings


def test_groups_written_apart_and_bins_are_not_noted():
    assert describe_alike_values("g", ["F", "M", True, 1, "(missing)"]) == ""
