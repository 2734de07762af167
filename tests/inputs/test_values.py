"""Values per user measured elsewhere, and other lists of the same users."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError, MetricError, UnknownNameError
from fairrec.report.audit_result import AuditResult
from tests.builders import numbers_of
from tests.grouped_options import group_options

NAN, INF = float("nan"), float("inf")
USERS = pl.DataFrame({"user_id": [*"abcd"], "group": [*"xxyy"]})


def audit(values: Any, **options: Any) -> AuditResult:
    settings = {"permutations": 0, "max_undefined": 1, "min_support": 1}
    return fairrec.audit(
        **group_options(values=values, **{"users": USERS, "by": "group", **settings, **options})
    )


def values(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame({"user_id": [*"dbac"], **columns}, strict=False)


def per_user(result: AuditResult, name: str) -> list[float | None]:
    assert result.per_user["user_id"].to_list() == [*"abcd"]
    return result.per_user[name].to_list()


def test_a_value_stands_with_its_user_and_a_group_has_their_mean():
    result = audit(values(watch=[4, 2, 1, 3]))
    assert per_user(result, "watch") == [1, 2, 3, 4]
    gap = result.gap("watch")
    # neither end is better, so the ends are the highest and the lowest
    assert (gap.advantaged.group, gap.advantaged.value) == ({"group": "y"}, (3 + 4) / 2)
    assert (gap.disadvantaged.group, gap.disadvantaged.value) == ({"group": "x"}, (1 + 2) / 2)
    assert result.metrics["watch"].higher_is_better is None
    assert result.summary.n_candidates == 0


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([4.5, None, 1.0, 3.0], [1, None, 3, 4.5]),
        ([4.5, NAN, 1.0, 3.0], [1, None, 3, 4.5]),
        ([NAN, None, 1.0, 3.0], [1, None, 3, None]),
        ([4, None, 1, 3], [1, None, 3, 4]),
        ([True, False, None, True], [None, 0, 1, 1]),
        (pl.Series([4, 2, None, 3], dtype=pl.UInt8), [None, 2, 3, 4]),
    ],
    ids=["null", "NaN", "both", "whole", "true or false", "small"],
)
def test_no_value_is_undefined_and_truth_counts_1(column, expected):
    result = audit(values(x=column))
    assert per_user(result, "x") == expected
    n_missing = expected.count(None)
    (undefined,) = result.summary.missing
    assert (undefined.kind, undefined.n_missing, undefined.n_users) == ("undefined", n_missing, 4)


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (
            ["4", "high", "1", "2"],
            "the values table, row 2: column 'x' holds 'high', which is not a number (1 such "
            "values). Give numbers only.",
        ),
        (
            [1.0, INF, 2.0, -INF],
            "the values table, row 2: column 'x' is inf (2 such values). Every value must be "
            "finite; drop those rows or fix the model that wrote them.",
        ),
        (
            [None, NAN, None, None],
            "the values table: column 'x' has no value at all. Leave it out: metrics=...",
        ),
    ],
    ids=["text", "infinite", "nothing"],
)
def test_what_is_no_number_is_refused_with_the_remedy(column, says):
    with pytest.raises(InputError) as caught:
        audit(values(x=column), metrics="x")
    assert str(caught.value) == says


def test_by_default_all_columns_of_numbers_that_are_neither_ids_nor_attributes():
    table = values(x=[1, 2, 3, 4], note=[*"pqrs"], flag=[True] * 4, age=[10, 20, 30, 40])
    assert [*audit(table).metrics] == ["x", "flag", "age"]
    # attributes may stand beside the values, in bins too
    assert [*audit(table, users=None, by="age:20").metrics] == ["x", "flag"]
    result = audit(table, users=None, by="note,age:20", metrics="flag,x,flag")
    assert [*result.metrics] == ["flag", "x"]
    assert [*result.summary.attributes] == ["note", "age"]


def test_the_better_end_is_the_one_that_is_named():
    table = values(churn=[4, 2, 1, 3], watch=[4, 2, 1, 3])
    result = audit(table, better="churn=lower,watch=higher")
    assert result.gap("churn").disadvantaged.group == {"group": "y"}
    assert result.gap("watch").disadvantaged.group == {"group": "x"}
    same = audit(table, better={"churn": "lower", "watch": "higher"})
    assert numbers_of(same) == numbers_of(result)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metrics": "wacht"}, "the values table: No column 'wacht'. Did you mean 'watch'?"),
        ({"metrics": "user_id"}, "the values table: No column 'user_id'"),
        ({"better": "wacht=lower"}, "better: No column 'wacht'. Did you mean 'watch'?"),
        ({"better": "watch=low"}, "invalid better: expected name=higher or name=lower, such as "),
        ({"users": USERS[:3]}, "the values table: user 'd' not in the users table. Every user of"),
        ({"scorer": lambda pairs: pairs}, "values are measured already: nothing is left to score"),
        ({"search": "adaptive"}, "values are measured already.*Leave out search"),
    ],
)
def test_what_does_not_fit_is_refused(options, says):
    with pytest.raises((InputError, UnknownNameError), match=says):
        audit(values(watch=[4, 2, 1, 3]), **options)


def test_a_user_has_one_row():
    twice = pl.concat([values(x=[1, 2, 3, 4]), values(x=[1, 2, 3, 4])[:1]])
    with pytest.raises(InputError, match=r"row 5: user_id 'd' appears more than once\. Keep one"):
        audit(twice)


@pytest.mark.parametrize("huge", [1.797e308, -1e101])
def test_a_number_that_stands_for_none_is_refused(huge):
    with pytest.raises(InputError, match=r"column 'y' has a value of .*, too large to compute"):
        audit(values(y=[1.0, huge, 3.0, 4.0]))


def test_numbers_too_small_to_tell_apart_are_refused():
    with pytest.raises(MetricError, match=r"'y' has values up to 4e-81.*Use other units"):
        audit(values(y=[1e-81, 2e-81, 3e-81, 4e-81]))


USERS_OTHER_LISTS = pl.DataFrame({"user_id": [1, 2, 3, 4], "gender": ["F", "F", "M", "M"]})
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
            users=USERS_OTHER_LISTS,
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


def test_a_metric_of_two_lists_needs_the_other_ones():
    with pytest.raises(InputError, match="'rbo@5' needs the against_lists table"):
        audited(metrics="rbo", against_lists=None)
