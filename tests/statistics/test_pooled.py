"""Metrics of the pooled candidates of a group."""

from __future__ import annotations

import polars as pl
import pytest
from pytest import approx

import fairrec
from fairrec.core.errors import InputError


def two_groups() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Users 1 and 2 are perfect each, but not together; so is user 3, who is alone."""
    users = pl.DataFrame({"user_id": [1, 2, 3], "group": ["a", "a", "b"]})
    predictions = pl.DataFrame(
        {
            "user_id": [1, 1, 2, 2, 3, 3],
            "item_id": [1, 2, 1, 2, 1, 2],
            "score": [0.9, 0.8, 0.2, 0.1, 0.6, 0.5],
            "label": [1, 0, 1, 0, 1, 0],
        }
    )
    return users, predictions


def test_audit_pools_a_group_for_pooled_auc_and_takes_the_mean_for_auc():
    users, predictions = two_groups()
    result = fairrec.audit(
        predictions,
        users=users,
        by="group",
        metrics="auc,pooled_auc",
        statistics=fairrec.Statistics(permutations=20),
        min_support=1,
    )
    assert result.gap("auc").size == 0
    gap = result.gap("pooled_auc")
    assert gap.size == approx(1 - 3 / 4)
    assert (gap.advantaged.group, gap.disadvantaged.group) == ({"group": "b"}, {"group": "a"})


def test_pooled_auc_has_full_combinations_only_and_neither_tests_nor_a_column():
    users, predictions = two_groups()
    users = users.with_columns(pl.Series("age", ["old", "young", "old"]))
    result = fairrec.audit(
        predictions,
        users=users,
        by="group,age",
        metrics="auc,pooled_auc",
        statistics=fairrec.Statistics(permutations=20),
        min_support=1,
    )
    groups = result.groups("pooled_auc")
    assert set(groups["depth"]) == {2}
    assert groups["p_value"].null_count() == len(groups) == 3
    assert result.metric("pooled_auc").chance is None
    assert result.metric("pooled_auc").findings == ()
    assert "pooled_auc" not in result.per_user.columns
    assert set(result.groups("auc")["depth"]) == {1, 2}


def test_pooled_auc_can_be_asked_for_alone():
    users, predictions = two_groups()
    result = fairrec.audit(
        predictions, users=users, by="group", metrics="pooled_auc", min_support=1
    )
    assert result.gap("pooled_auc").size == approx(1 - 3 / 4)


def test_labels_of_one_kind_leave_pooled_auc_undefined():
    users, predictions = two_groups()
    for label in (0, 1):
        with pytest.raises(InputError, match="'pooled_auc' is undefined: all candidates are rel"):
            fairrec.audit(
                predictions.with_columns(label=pl.lit(label)),
                users=users,
                by="group",
                metrics="pooled_auc",
                min_support=1,
            )


def test_groups_whose_candidates_are_all_alike_are_left_out_and_counted():
    users, predictions = two_groups()
    of_b = pl.col("user_id") == 3
    labels = predictions.with_columns(label=pl.when(of_b).then(1).otherwise("label"))
    result = fairrec.audit(labels, users=users, by="group", metrics="pooled_auc", min_support=1)
    found = result.metric("pooled_auc")
    assert (found.n_defined, found.n_undefined, found.n_groups) == (2, 1, 1)
    # of one group nothing is the best or the worst
    assert found.most_advantaged == found.most_disadvantaged == ()
    assert (found.gap, found.advantaged, found.disadvantaged) == (0, None, None)
