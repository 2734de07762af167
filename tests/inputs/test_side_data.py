"""Categories and columns of items, histories and popularity: what is missing is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from pytest import approx

import fairrec
from fairrec.core.errors import InputError
from fairrec.inputs.side_data import (
    history_lengths,
    read_item_columns,
    read_user_profiles,
)
from fairrec.inputs.tables import Table
from fairrec.report.audit_result import AuditResult
from tests.builders import audit, values_of

# user a gets items 1 and 2, user b items 1 and 3; scores in falling order
PREDICTIONS = pl.DataFrame(
    {
        "user_id": ["a", "b"],
        "item_id": [[1, 2], [1, 3]],
        "score": [[0.9, 0.8], [0.9, 0.8]],
        "label": [[1, 0], [0, 1]],
    }
)
USERS = pl.DataFrame({"user_id": ["a", "b"], "group": ["x", "y"]})


def _urd(categories: Any, item_ids: Any = (1, 2, 3), **columns: Any) -> AuditResult:
    items = pl.DataFrame({"item_id": item_ids, "categories": categories, **columns}, strict=False)
    return audit(PREDICTIONS, USERS, "group", items=items, metrics="urd")


def _urp(rows: list[tuple[Any, Any]], metrics: str = "urp") -> AuditResult:
    history = pl.DataFrame(rows, schema=["user_id", "item_id"], orient="row", strict=False)
    return audit(PREDICTIONS, USERS, "group", history=history, metrics=metrics)


@pytest.mark.parametrize(
    "categories",
    [
        [["x", "y"], ["y", "z"], ["x", "y"]],
        [["y", "x"], ["z", "y", "z"], ["x", "y", "y"]],
        ["x|y", "y|z", "y|x"],
        ["x|y|", "|y|z", "x||y"],
        [[1, 2], [2, 3], [1, 2]],
        pl.Series([["x", "y"], ["y", "z"], ["x", "y"]], dtype=pl.Array(pl.String, 2)),
        pl.Series([["x", "y"], ["y", "z"], ["x", "y"]], dtype=pl.List(pl.Categorical)),
        pl.Series(["x|y", "y|z", "x|y"], dtype=pl.Categorical),
        [["x", "y", None], ["y", None, "z"], ["x", "", "y"]],
    ],
    ids=lambda categories: str(categories)[:40],
)
def test_categories_as_lists_and_as_joined_text_are_the_same(categories: Any):
    result = _urd(categories)
    # items 1 and 2 share one of three categories, items 1 and 3 have the same
    assert values_of(result, "urd@5", ["a", "b"]) == [pytest.approx(1 - 1 / 3), 0]
    assert result.warnings == ()


def test_items_not_in_the_items_table_are_counted_and_their_pairs_left_out():
    result = _urd([["x"], ["x", "y"]], item_ids=(1, 2))
    assert values_of(result, "urd@5", ["a", "b"]) == [1 / 2, None]
    assert result.warnings == (
        "1 of 3 candidate items have no category (1 are not in the items table); pairs with them "
        "are left out of URD",
    )
    (undefined,) = result.summary.missing
    assert (undefined.kind, undefined.metrics) == ("undefined", ("urd@5",))
    assert (undefined.n_missing, undefined.n_users) == (1, 2)


def test_an_item_in_two_rows_is_refused_with_the_row():
    with pytest.raises(InputError) as caught:
        _urd(["x", "y", "z"], item_ids=(1, 2, 1))
    assert str(caught.value).startswith("the items table, row 3: item_id 1 appears more than once.")
    assert "join its categories with '|'" in str(caught.value)


def test_popularity_is_the_share_of_interactions_in_percent():
    # item 1: 3 of 5, item 2: 1 of 5, item 3: 1 of 5
    result = _urp([("a", 1), ("a", 2), ("b", 1), ("b", 1), ("z", 3)], "urp,urp_abs")
    shown_to_a = (60 + 20) / 2
    shown_to_b = (60 + 20) / 2
    history_of_a, history_of_b = (60 + 20) / 2, 60
    expected = [shown_to_a - history_of_a, shown_to_b - history_of_b]
    assert values_of(result, "urp@5", ["a", "b"]) == pytest.approx(expected)
    assert values_of(result, "urp_abs@5", ["a", "b"]) == pytest.approx([0, 20])
    assert result.warnings == ()


def test_candidates_that_never_occur_in_the_history_have_no_popularity_and_are_counted():
    result = _urp([("a", 1), ("b", 1), ("b", 9)])
    share = 200 / 3
    # items 2 and 3 are new; b's history holds items 1 and 9
    expected = [share / 2 - share, share / 2 - (share + 100 / 3) / 2]
    assert values_of(result, "urp@5", ["a", "b"]) == pytest.approx(expected)
    assert result.warnings == (
        "2 of 3 candidate items do not occur in the history table; their popularity is 0",
    )


def test_a_history_of_other_users_only_is_refused():
    with pytest.raises(InputError, match=r"history table: none of the audited users.*user ids"):
        _urp([("y", 1), ("z", 2)])


ROWS = [(7, 3), (5, 1), (7, 1), (5, 1), (9, 3), (7, 2)]


def table_of(rows=ROWS, kind=None) -> pl.DataFrame:
    table = pl.DataFrame(rows, schema=["user_id", "item_id"], orient="row")
    return table if kind is None else table.cast(kind)


def test_the_length_of_a_history_counts_every_row_and_nothing_is_0():
    table = Table(table_of(), "history")
    assert history_lengths(table, pl.Series([5, 6, 7])).tolist() == [2, 0, 3]
    as_text = history_lengths(Table(table_of(kind=pl.String), "history"), pl.Series(["7", "9"]))
    assert as_text.tolist() == [3, 1]


ITEMS = pl.DataFrame({"item_id": [1, 2, 3, 4], "categories": ["a", "a|b", "", "c"]})
HISTORY = pl.DataFrame({"user_id": [7, 7, 8, 7, 9], "item_id": [1, 2, 3, 2, 5]})


def test_a_taste_has_the_shares_of_the_categories_of_a_history():
    users = pl.Series([9, 7, 1, 8])
    profiles = read_user_profiles(Table(HISTORY, "history"), Table(ITEMS, "items"), users)
    found = []
    for at in profiles.value_of_lists:
        mine = slice(profiles.offsets[at], profiles.offsets[at + 1])
        found.append(
            {} if at < 0 else dict(zip(profiles.codes[mine], profiles.shares[mine], strict=True))
        )
    # of nobody's own categories, and of nobody who is not there
    assert found[0] == found[2] == found[3] == {}
    assert found[1] == approx({0: 0.75, 1: 0.25})
    assert profiles.n_codes == 2
    assert profiles.for_lists([1, 1]).value_of_lists.tolist() == [profiles.value_of_lists[1]] * 2


ITEMS_ITEM_COLUMNS = pl.DataFrame(
    {
        "item_id": [1, 2, 3, 4],
        "pay": ["high", "low", None, " high "],
        "tags": ["a|b", "b", "", None],
        "year": [1999, 2001, 1999, None],
        "price": [1.5, None, float("nan"), 4.0],
        "title": ["x", "y", "z", "w"],
        "nothing": [None, None, None, None],
    }
)
IDS = pl.Series([2, 1, 9, 4, 3])


def read(asked: str, items: pl.DataFrame = ITEMS_ITEM_COLUMNS) -> list[float | None]:
    found, _ = read_item_columns(Table(items, "items"), IDS, [asked])
    return [None if np.isnan(value) else value for value in found[asked]]


def test_a_value_is_1_where_an_item_has_it_and_unknown_where_nothing_is_known():
    assert read("pay=high") == [0, 1, None, 1, None]
    assert read("tags=b") == [1, 1, None, None, None]
    assert read("tags=a") == [0, 1, None, None, None]
    assert read("year=1999") == [0, 1, None, None, 1]


def test_numbers_are_read_as_they_are():
    assert read("price") == [None, 1.5, None, 4, None]
    assert read("year") == [2001, 1999, None, None, 1999]


def test_how_many_items_are_unknown_is_told():
    _, (note,) = read_item_columns(Table(ITEMS_ITEM_COLUMNS, "items"), IDS, ["pay=high"])
    assert str(note) == (
        "2 of 5 candidate items have no pay (1 are not in the items table); their places are left "
        "out of [pay=high]"
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("pya=high", "No column 'pya'. Did you mean 'pay'?"),
        ("pay=hihg", "No value of column 'pay' 'hihg'. Did you mean 'high'? Known: high, low."),
        ("title", "column 'title' holds 'x', which is not a number"),
        ("nothing", "column 'nothing' is empty in every row"),
    ],
)
def test_what_is_not_there_is_refused_with_the_nearest(asked, told):
    with pytest.raises(InputError) as error:
        read(asked)
    assert told in str(error.value)


@pytest.mark.parametrize("said", [{}, {"share@2[pay=high]": "higher"}])
def test_who_is_shown_less_of_it_is_served_worse_if_that_is_said(said):
    n = 400
    users = pl.DataFrame({"user_id": range(n), "gender": ["F", "M"] * (n // 2)})
    recommended = pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(n), 2),
            "item_id": [2, 1] * n,
            # men have the well-paid job first
            "score": np.tile([0.9, 0.5, 0.5, 0.9], n // 2),
            "label": [1, 0] * n,
        }
    )
    result = fairrec.audit(
        recommended,
        users=users,
        by="gender",
        items=ITEMS_ITEM_COLUMNS,
        metrics=["share@2[pay=high]", "mean@1[year]"],
        tables=fairrec.Tables(better=said),
        statistics=fairrec.Statistics(permutations=99),
    )
    first = 1 / (1 + 1 / np.log2(3))
    values = {
        row["gender"]: row["share@2[pay=high]"]
        for row in result.per_user.group_by("gender").mean().iter_rows(named=True)
    }
    assert values == pytest.approx({"M": first, "F": 1 - first})
    shown = result.metric("share@2[pay=high]")
    assert shown.called == "places for pay=high"
    assert shown.higher_is_better is (True if said else None)
    assert (shown.verdict.n_worse, shown.verdict.n_better) == ((1, 1) if said else (2, 0))
    assert result.metric("mean@1[year]").higher_is_better is None
