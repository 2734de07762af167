"""Other lists of the same users."""

from __future__ import annotations

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from tests.grouped_options import group_options

USERS = pl.DataFrame({"user_id": [1, 2, 3, 4], "gender": ["F", "F", "M", "M"]})
LISTS = pl.DataFrame(
    {"user_id": [1, 2, 3, 4], "item_id": [[7, 8, 9]] * 4, "score": [[3.0, 2.0, 1.0]] * 4}
)
OTHERS = pl.DataFrame(
    {"user_id": [3, 1, 4], "item_id": [[8, 7, 9], [7, 8, 5], [9, 8, 7]], "rank": [[1, 2, 3]] * 3}
)


def audited(**given: object) -> fairrec.AuditResult:
    return fairrec.audit(
        LISTS,
        **group_options(
            users=USERS,
            by="gender",
            min_support=1,
            permutations=0,
            **{"metrics": ["changed@2", "affected@3"], "against_lists": OTHERS, **given},
        ),
    )


def test_lists_are_compared_user_by_user_whatever_the_order_of_rows():
    found = audited().per_user.sort("user_id")
    assert found["changed@2"].to_list() == [0.0, None, 0.0, 0.5]
    # item 5 is nobody's candidate, and still another item
    assert found["affected@3"].to_list() == [1.0, None, 1.0, 1.0]


def test_a_user_without_another_list_is_undefined_and_counted():
    result = audited()
    assert result.metrics["changed@2"].n_undefined == 1
    assert any("1 of 4 users have no list in" in note for note in result.warnings)


def test_rows_in_any_order_and_scores_give_the_same():
    rows = OTHERS.explode("item_id", "rank").with_columns(score=-pl.col("rank"))
    shuffled = rows.drop("rank").sample(fraction=1.0, shuffle=True, seed=1)
    expected = audited().per_user
    assert audited(against_lists=shuffled).per_user.equals(expected, null_equal=True)


def test_a_metric_of_two_lists_needs_the_other_ones():
    with pytest.raises(InputError, match="'rbo@5' needs the against_lists table"):
        audited(metrics="rbo", against_lists=None)


def test_by_default_lists_are_compared_where_there_are_others():
    assert {"changed@3", "rbo@3"} <= audited(metrics=None).metrics.keys()


def test_values_have_no_lists_to_compare():
    with pytest.raises(InputError, match="leave out the against_lists table"):
        fairrec.audit(
            values=USERS.with_columns(clicks=1),
            users=USERS,
            by="gender",
            tables=fairrec.Tables(against_lists=OTHERS),
        )


def test_by_default_whole_lists_are_compared():
    """A change behind the fifth place is one."""
    longer = [*range(8)]
    lists = pl.DataFrame(
        {"user_id": [1, 2, 3, 4], "item_id": [longer] * 4, "rank": [[*range(1, 9)]] * 4}
    )
    others = lists.with_columns(item_id=pl.Series([[*range(7), 99]] * 2 + [longer] * 2))
    given = {"users": USERS, "by": "gender", "min_support": 1, "permutations": 0}
    found = fairrec.audit(lists, **group_options(against_lists=others, **given))
    assert [*found.metrics] == ["changed@8", "rbo@8"]
    assert found.group_table["value"].to_list()[:2] == [0.125, 0.0]
