"""Predictions that cannot be used are refused with the row; the undefined is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairrec.core.errors import FairRecError, InputError
from fairrec.report.view import build_view
from tests.builders import as_lists, audit, numbers_of, one_each, two_groups, values_of

NAN, INF = float("nan"), float("inf")


def _with(table: pl.DataFrame, row: int, column: str, value: Any) -> pl.DataFrame:
    """The table with one value changed; rows count from 1."""
    values = table[column].to_list()
    values[row - 1] = value
    return table.with_columns(pl.Series(column, values, strict=False))


def _refusal(*tables: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        audit(*tables, **{"by": "group", **options})
    assert isinstance(caught.value, FairRecError)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def test_a_duplicate_pair_is_refused_with_user_and_item():
    predictions, users = two_groups()
    message = _refusal(pl.concat([predictions, predictions[5:7]]), users)
    assert message == (
        "the predictions table: user 'u1' has item 1 twice (2 such rows in all). "
        "Keep one row for each user and item."
    )


def test_a_duplicate_pair_is_found_in_lists_and_in_shuffled_rows():
    predictions, users = two_groups()
    twice = pl.concat([predictions, predictions[6:7]])
    for table in (as_lists(twice), twice.sample(fraction=1.0, shuffle=True, seed=1)):
        assert "user 'u1' has item 2 twice (1 such rows" in _refusal(table, users)


def test_the_same_item_for_two_users_is_no_duplicate():
    predictions, users = two_groups()
    assert predictions["item_id"].n_unique() < predictions.height
    assert audit(predictions, users, "group").summary.n_candidates == predictions.height


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize("column", ["score", "label"])
def test_a_number_that_is_not_finite_is_refused_with_its_row(column: str, bad: float):
    predictions, users = two_groups()
    predictions = predictions.with_columns(pl.col("label").cast(pl.Float64))
    predictions = _with(_with(predictions, 11, column, bad), 20, column, bad)
    expected = f"the predictions table, row 11: column '{column}' is {bad} (2 such values)."
    assert _refusal(predictions, users).startswith(expected)
    # user u2 is the third row of the list form
    lists = as_lists(predictions)
    assert f"row 3: column '{column}' is {bad} (2 such values)" in _refusal(lists, users)


@pytest.mark.parametrize("column", ["score", "label"])
def test_a_missing_number_is_refused_with_its_row(column: str):
    predictions, users = two_groups()
    predictions = _with(predictions, 11, column, None)
    assert f"row 11: column '{column}' is empty (1 such values)" in _refusal(predictions, users)
    lists = as_lists(predictions)
    assert f"row 3: column '{column}' is empty (1 such values)" in _refusal(lists, users)


@pytest.mark.parametrize("column", ["score", "label"])
def test_text_among_numbers_is_refused_with_its_row(column: str, tmp_path: Path):
    predictions, users = two_groups()
    texts = predictions.with_columns(pl.col(column).cast(pl.String))
    texts = _with(_with(texts, 11, column, "high"), 12, column, "low")
    texts.write_csv(tmp_path / "predictions.csv")
    expected = f"row 11: column '{column}' holds 'high', which is not a number (2 such values)."
    for source in (texts, tmp_path / "predictions.csv"):
        assert expected in _refusal(source, users)
    assert f"row 3: column '{column}' holds 'high'" in _refusal(as_lists(texts), users)


@pytest.mark.parametrize("bad", ["nan", "NaN", "inf", "-Infinity", "n.a.", "1,5"])
def test_a_bad_number_in_csv_is_named_with_its_row(bad: str, tmp_path: Path):
    predictions, users = two_groups()
    path = tmp_path / "predictions.csv"
    _with(predictions.with_columns(pl.col("score").cast(pl.String)), 11, "score", bad).write_csv(
        path
    )
    message = _refusal(path, users)
    assert message.startswith("predictions.csv, row 11: column 'score' ")
    assert bad.lower()[:4] in message.lower()


def test_numbers_stored_as_text_are_not_called_no_number():
    predictions, users = two_groups()
    message = _refusal(predictions.with_columns(pl.col("score").cast(pl.String)), users)
    assert "'score'" in message
    assert "text" in message.lower()
    assert "'4.0', which is not a number" not in message


def test_labels_below_zero_are_refused_with_the_remedy():
    predictions, users = two_groups()
    message = _refusal(predictions.with_columns(label=2 * pl.col("label") - 1), users)
    assert "column 'label' has values below 0 (such as -1)" in message
    assert "turn -1 into 0" in message


@pytest.mark.parametrize("kind", [pl.Boolean, pl.Int8, pl.UInt64, pl.Float32, pl.Float64])
def test_labels_of_any_kind_of_number_are_the_same(kind: pl.DataType):
    predictions, users = two_groups()
    cast = predictions.with_columns(pl.col("label").cast(kind))
    expected = numbers_of(audit(predictions, users, "group"))
    assert numbers_of(audit(cast, users, "group")) == expected
    assert numbers_of(audit(as_lists(cast), users, "group")) == expected


def test_unknown_users_are_named_and_counted():
    predictions, users = two_groups()
    message = _refusal(predictions, users.filter(pl.col("user_id") < "u3"))
    assert message.startswith(
        "the predictions table: user 'u3', 'u4', 'u5' and 2 more not in the users table."
    )
    assert "row of attributes" in message


def test_a_user_with_two_rows_is_named_with_the_second_row():
    predictions, users = two_groups()
    message = _refusal(predictions, pl.concat([users, users[2:3]]))
    assert message.startswith("the users table, row 9: user_id 'u2' appears more than once.")
    assert "Keep one row per user" in message


def test_the_row_of_a_repeated_user_is_the_first_repetition():
    predictions = one_each({"a": 1, "b": 2})
    users = pl.DataFrame({"user_id": ["a", "b", "a", "b"], "group": ["x"] * 4})
    assert _refusal(predictions, users).startswith("the users table, row 3: user_id 'a', 'b'")


def test_tables_without_rows_are_refused():
    predictions, users = two_groups()
    assert _refusal(predictions.clear(), users) == (
        "the predictions table: the table is empty. It needs at least one row."
    )
    assert _refusal(as_lists(predictions).clear(), users).startswith("the predictions table: ")
    assert _refusal(predictions, users.clear()).startswith("the users table: the table is empty")


def test_lists_of_different_lengths_are_refused_with_the_row():
    lists = as_lists(two_groups()[0])
    message = _refusal(_with(lists, 3, "score", [0.5]), two_groups()[1])
    assert "row 3: 4 values in 'item_id' but 1 in 'score'" in message


@pytest.mark.parametrize("column", ["item_id", "score", "label"])
def test_a_missing_list_is_refused_with_the_row(column: str):
    predictions, users = two_groups()
    message = _refusal(_with(as_lists(predictions), 3, column, None), users)
    assert f"row 3: the list in '{column}' is missing" in message
    assert "empty list" in message


def test_a_missing_item_in_a_list_is_refused_with_the_row():
    predictions, users = two_groups()
    message = _refusal(_with(as_lists(predictions), 3, "item_id", [1, None, 2, 3]), users)
    assert "row 3: an item id is missing" in message


def test_lists_in_some_columns_only_are_refused():
    predictions, users = two_groups()
    lists = as_lists(predictions).with_columns(label=pl.lit(1))
    message = _refusal(lists, users)
    assert "item_id, score holds lists but label" in message
    assert "one row per user" in message


def test_a_list_of_users_is_refused_by_name():
    predictions, users = two_groups()
    lists = as_lists(predictions).with_columns(pl.concat_list("user_id"))
    message = _refusal(lists, users)
    assert "user_id" in message
    assert "holds lists but  does not" not in message


def test_columns_of_structs_are_refused():
    predictions, users = two_groups()
    structs = predictions.with_columns(
        pl.struct(pl.col(name)).alias(name) for name in ("item_id", "score", "label")
    )
    assert "item_id" in _refusal(structs, users)
    one = predictions.with_columns(pl.struct("score").alias("score"))
    assert "holds lists" not in _refusal(one, users)


def test_lists_of_lists_are_refused():
    predictions, users = two_groups()
    lists = as_lists(predictions).with_columns(score=pl.Series([[[1.0]] * 4] * 8))
    assert "score" in _refusal(lists, users)


@pytest.mark.parametrize("table", [{"a": 1}, [1, 2], 7, np.zeros((2, 2)), pd.Series([1])])
def test_what_is_no_table_is_refused(table: Any):
    predictions, users = two_groups()
    assert _refusal(table, users).startswith(f"predictions: {type(table).__name__} is not a table")
    assert _refusal(predictions, table).startswith("users: ")


def test_no_table_at_all_is_refused():
    predictions, users = two_groups()
    assert "users" in _refusal(predictions, None)
    assert "predictions" in _refusal(None, users)


def test_users_without_a_positive_are_undefined_counted_and_left_out():
    # u0 and u1 at places 1 and 2, u2 with none; two users without a positive in the other group
    predictions = one_each({"u0": 1, "u1": 2, "u2": None, "u3": 1, "u4": None, "u5": None})
    users = pl.DataFrame(
        {"user_id": [f"u{i}" for i in range(6)], "group": ["x", "x", "x", "y", "y", "y"]}
    )
    result = audit(predictions, users, "group", metrics="auc,mrr,ndcg,recall,hit")
    for name in ("auc", "mrr@5", "ndcg@5", "recall@5", "hit@5"):
        assert result.metrics[name].n_defined == 3
        assert result.metrics[name].n_undefined == 3
        assert result.metrics[name].undefined_share == 3 / 6
        assert values_of(result, name, ["u2", "u4", "u5"]) == [None, None, None]
    # all for the same reason, so they are counted once
    (without,) = result.summary.missing
    assert without.kind == "no relevant item"
    assert without.metrics == ("auc", "mrr@5", "ndcg@5", "recall@5", "hit@5")
    assert (without.n_missing, without.n_users, without.counts_as_zero) == (3, 6, False)
    assert result.warnings == ()
    assert result.metrics["mrr@5"].mean == pytest.approx((1 + 1 / 2 + 1) / 3)
    gap = result.gap("mrr")
    assert (gap.advantaged.value, gap.advantaged.support) == (1, 1)
    assert gap.disadvantaged.value == pytest.approx((1 + 1 / 2) / 2)
    assert gap.disadvantaged.support == 2
    assert result.summary.n_users == 6


def test_a_metric_undefined_for_everyone_is_refused():
    predictions, users = two_groups()
    message = _refusal(predictions.with_columns(label=0), users)
    assert message.startswith(
        "Metric 'mrr@5' is undefined for every user: no candidate has a label"
    )
    message = _refusal(predictions.with_columns(label=1), users, metrics="auc")
    assert message.startswith("Metric 'auc' is undefined for every user: no user has both")


@pytest.mark.parametrize("label", [0, 1])
def test_a_pooled_metric_undefined_for_everyone_is_refused(label: int):
    predictions, users = two_groups()
    message = _refusal(predictions.with_columns(label=label), users, metrics="pooled_auc")
    assert message.startswith("Metric 'pooled_auc' is undefined")


def test_a_pooled_metric_may_be_the_only_one():
    predictions, users = two_groups()
    result = audit(predictions, users, "group", metrics="pooled_auc")
    # relevant above 3 of 3 others at place 1, above 2 of 3 at place 2, in every pair of users
    assert result.gap("pooled_auc").advantaged.group == {"group": "even"}
    assert result.gap("pooled_auc").size == pytest.approx(1 - 2 / 3)


def test_too_few_users_with_a_defined_value_are_not_called_no_gap():
    predictions = one_each({f"u{i}": 1 if i == 0 else None for i in range(8)})
    users = pl.DataFrame({"user_id": [f"u{i}" for i in range(8)], "group": ["x", "y"] * 4})
    result = audit(predictions, users, "group", min_support=4, permutations=39)
    assert result.metrics["mrr@5"].n_groups == 0
    assert result.metrics["mrr@5"].gap is None
    verdict = build_view(result.summary).verdicts[0]
    assert verdict.status == "inconclusive"
    assert verdict.headline.startswith("Nothing can be said: 88% of users have no value")
    # who lets them pass is told that there was nothing to test
    let_pass = audit(predictions, users, "group", min_support=4, max_undefined=1, permutations=39)
    assert build_view(let_pass.summary).verdicts[0].status == "not tested"


def test_a_cut_off_past_the_longest_list_is_the_whole_list():
    predictions, users = two_groups()
    past = audit(predictions, users, "group", metrics="ndcg@1000").metrics["ndcg@1000"]
    whole = audit(predictions, users, "group", metrics="ndcg@4").metrics["ndcg@4"]
    assert past == whole


@pytest.mark.parametrize(
    "cutoff", ["0", "-1", "2.5", "x", "", "1000000000000", pytest.param("9" * 5000, id="digits")]
)
def test_a_cut_off_that_is_no_whole_number_from_1_is_refused(cutoff: str):
    predictions, users = two_groups()
    message = _refusal(predictions, users, metrics=f"mrr@{cutoff}")
    assert message.startswith("Metric 'mrr@")
    assert "the cut-off must be a whole number from 1 to 1,000. Example: mrr@5" in message


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("depth", 0),
        ("depth", -1),
        ("depth", 1.5),
        ("depth", "some"),
        ("min_support", 0),
        ("min_support", -0.1),
        ("min_support", 1.5),
        ("min_support", NAN),
        ("min_support", INF),
        ("permutations", -1),
        ("alpha", 0),
        ("alpha", 1),
        ("alpha", 2),
        ("alpha", NAN),
        ("seed", -1),
        ("threads", 0),
    ],
)
def test_an_option_out_of_range_is_refused_by_name(option: str, value: Any):
    predictions, users = two_groups()
    message = _refusal(predictions, users, **{option: value})
    assert message.startswith(f"invalid {option}: expected ")
    assert message.endswith(f", got {value!r}")


def test_a_support_no_group_has_is_refused_with_the_number_of_users():
    predictions, users = two_groups()
    message = _refusal(predictions, users, min_support=5)
    assert message.startswith("No group has 5 users")
    assert "8 users" in message
    assert "Lower min_support" in message


def test_equal_scores_count_at_their_mean_in_both_forms():
    predictions = pl.DataFrame(
        {
            "user_id": ["b", "a", "b", "a", "a"],
            "item_id": [2, 2, 1, 1, 3],
            "score": [0.5, 0.5, 0.5, 0.5, 0.1],
            "label": [1, 0, 0, 1, 0],
        }
    )
    users = pl.DataFrame({"user_id": ["a", "b"], "group": ["x", "y"]})
    for table in (predictions, as_lists(predictions)):
        result = audit(table, users, "group", metrics="mrr")
        assert values_of(result, "mrr@5", ["a", "b"]) == [3 / 4, 3 / 4]
