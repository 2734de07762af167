"""Categories of items and the history: what is missing there is counted and said."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.report.audit_result import AuditResult
from tests.builders import audit, numbers_of, values_of

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


def test_one_category_an_item_needs_no_separator():
    assert values_of(_urd(["x", "y", "x"]), "urd@5", ["a", "b"]) == [1, 0]
    assert values_of(_urd([10, 20, 10]), "urd@5", ["a", "b"]) == [1, 0]


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


@pytest.mark.parametrize(
    "categories",
    [["x", "x|y", None], ["x", "x|y", ""], [["x"], ["x", "y"], []], [["x"], ["x", "y"], None]],
    ids=str,
)
def test_items_without_categories_are_counted_and_their_pairs_left_out(categories: list[Any]):
    result = _urd(categories)
    assert values_of(result, "urd@5", ["a", "b"]) == [1 / 2, None]
    assert any(
        "1 of 3 candidate items have no category (0 are not in" in warning
        for warning in result.warnings
    )


def test_items_that_are_no_candidates_change_nothing():
    more = _urd(["x", "y", "x", "z", "x|z"], item_ids=(1, 2, 3, 40, -5))
    assert numbers_of(more) == numbers_of(_urd(["x", "y", "x"]))


def test_item_ids_as_text_in_one_table_and_numbers_in_the_other_are_the_same():
    assert numbers_of(_urd(["x", "y", "x"], item_ids=("1", "2", "3"))) == numbers_of(
        _urd(["x", "y", "x"])
    )


def test_categories_known_for_no_candidate_are_refused_and_the_table_is_named():
    with pytest.raises(InputError, match=r"'urd@5' is undefined for every user") as caught:
        _urd(["x", "y", "x"], item_ids=(10, 20, 30))
    assert "items table" in str(caught.value)
    with pytest.raises(InputError, match=r"'urd@5' is undefined for every user"):
        _urd([None, None, None])


def test_an_item_in_two_rows_is_refused_with_the_row():
    with pytest.raises(InputError) as caught:
        _urd(["x", "y", "z"], item_ids=(1, 2, 1))
    assert str(caught.value).startswith("the items table, row 3: item_id 1 appears more than once.")
    assert "join its categories with '|'" in str(caught.value)


def test_categories_of_another_kind_are_refused():
    with pytest.raises(InputError, match=r"the items table: column 'categories' is of type Struct"):
        _urd([{"a": 1}, {"a": 2}, {"a": 3}])
    with pytest.raises(InputError, match=r"the items table.*categories"):
        _urd([[["x"]], [["y"]], [["z"]]])


def test_items_without_a_categories_column_are_refused():
    items = pl.DataFrame({"item_id": [1, 2, 3], "title": ["x", "y", "z"]})
    with pytest.raises(InputError, match=r"the items table: no column 'categories'.*title"):
        audit(PREDICTIONS, USERS, "group", items=items, metrics="urd")


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


def test_users_without_history_are_undefined_counted_and_left_out():
    result = _urp([("a", 1), ("a", 2), ("z", 3)])
    assert values_of(result, "urp@5", ["b"]) == [None]
    assert result.metrics["urp@5"].n_undefined == 1
    assert result.metrics["urp@5"].mean == pytest.approx(0)
    (undefined,) = result.summary.missing
    assert (undefined.kind, undefined.metrics) == ("undefined", ("urp@5",))
    assert (undefined.n_missing, undefined.n_users) == (1, 2)
    assert result.warnings == ()


def test_a_history_of_other_users_only_is_refused():
    with pytest.raises(InputError, match=r"history table: none of the audited users.*user ids"):
        _urp([("y", 1), ("z", 2)])


def test_an_empty_history_is_refused():
    history = pl.DataFrame(schema={"user_id": pl.String, "item_id": pl.Int64})
    with pytest.raises(InputError, match="the history table: the table is empty"):
        audit(PREDICTIONS, USERS, "group", history=history, metrics="urp")


def test_user_ids_as_numbers_in_the_history_and_text_elsewhere_are_the_same():
    predictions = PREDICTIONS.with_columns(user_id=pl.Series(["1", "2"]))
    users = USERS.with_columns(user_id=pl.Series(["1", "2"]))
    history = pl.DataFrame({"user_id": [1, 1, 2, 5], "item_id": [1, 2, 1, 3]})
    options = {"by": "group", "metrics": "urp"}
    expected = audit(
        predictions, users, history=history.with_columns(pl.all().cast(pl.String)), **options
    )
    assert expected.metrics["urp@5"].n_undefined == 0
    result = audit(predictions, users, history=history, **options)
    assert numbers_of(result) == numbers_of(expected)


@pytest.mark.parametrize(("metric", "table"), [("urd", "items"), ("urp", "history")])
def test_a_metric_without_its_table_is_refused(metric: str, table: str):
    with pytest.raises(
        InputError, match=f"'{metric}@5' needs the {table} table.*{table}=\\.\\.\\."
    ):
        audit(PREDICTIONS, USERS, "group", metrics=metric)


def test_the_default_metrics_are_those_the_tables_allow():
    items = pl.DataFrame({"item_id": [1, 2, 3], "categories": ["x", "y", "x"]})
    history = pl.DataFrame({"user_id": ["a", "b"], "item_id": [1, 2]})
    options = {"by": "group", "metrics": None}
    assert [*audit(PREDICTIONS, USERS, **options).metrics] == ["auc", "mrr@5", "ndcg@5"]
    result = audit(PREDICTIONS, USERS, items=items, history=history, **options)
    assert [*result.metrics] == ["auc", "mrr@5", "ndcg@5", "urd@5", "urp@5"]
