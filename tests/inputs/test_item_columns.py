from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.inputs.side_data import read_item_columns
from fairrec.inputs.tables import Table

ITEMS = pl.DataFrame(
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


def read(asked: str, items: pl.DataFrame = ITEMS) -> list[float | None]:
    found, _ = read_item_columns(Table(items, "items"), IDS, [asked])
    return [None if np.isnan(value) else value for value in found[asked]]


def test_a_value_is_1_where_an_item_has_it_and_unknown_where_nothing_is_known():
    assert read("pay=high") == [0, 1, None, 1, None]
    assert read("tags=b") == [1, 1, None, None, None]
    assert read("tags=a") == [0, 1, None, None, None]
    assert read("year=1999") == [0, 1, None, None, 1]


def test_lists_hold_several_values():
    items = pl.DataFrame({"item_id": [1, 2, 3], "tags": [["a", "b"], [], None]})
    assert read("tags=a", items) == [None, 1, None, None, None]


def test_numbers_are_read_as_they_are():
    assert read("price") == [None, 1.5, None, 4, None]
    assert read("year") == [2001, 1999, None, None, 1999]


def test_how_many_items_are_unknown_is_told():
    _, (note,) = read_item_columns(Table(ITEMS, "items"), IDS, ["pay=high"])
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


def test_an_item_twice_is_refused():
    with pytest.raises(InputError, match="appears more than once"):
        read("pay=high", pl.concat([ITEMS, ITEMS]))


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
        items=ITEMS,
        metrics=["share@2[pay=high]", "mean@1[year]"],
        better=said,
        permutations=99,
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


def test_the_better_end_is_said_of_metrics_that_have_none_and_are_asked_for():
    users = pl.DataFrame({"user_id": [1, 2], "gender": ["F", "M"]})
    predictions = pl.DataFrame({"user_id": [1, 2], "item_id": [1, 2], "score": [1, 1], "label": 1})
    with pytest.raises(InputError, match="of ndcg@5 the higher end is the better one"):
        fairrec.audit(
            predictions, users=users, by="gender", metrics="ndcg@5", better={"ndcg@5": "lower"}
        )
    with pytest.raises(InputError, match="No metric 'mrr@5'"):
        fairrec.audit(
            predictions, users=users, by="gender", metrics="ndcg@5", better={"mrr@5": "lower"}
        )
