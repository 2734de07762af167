"""The part of a result about users who are missing."""

from __future__ import annotations

import json

import polars as pl

from fairrec.result.schema import AuditSummary
from fairrec.result.summary import SHARES_SHOWN
from tests.builders import audit, one_each


def missing_half(n_groups: int):
    """Twelve users a group; of the first group nobody has a relevant item."""
    n_users = 12 * n_groups
    predictions = one_each({user: None if user < 12 else 1 + user % 2 for user in range(n_users)})
    users = pl.DataFrame(
        {"user_id": range(n_users), "group": [f"g{u // 12:02}" for u in range(n_users)]}
    )
    return audit(predictions, users, "group", permutations=99, min_support=2)


def test_groups_that_differ_are_findings_of_shares():
    (missing,) = missing_half(6).summary.missing
    assert missing.is_tested
    (finding,) = missing.findings
    assert finding.group == {"group": "g00"}
    assert (finding.value, finding.difference, finding.support) == (1, 1, 12)
    assert finding.p_adjusted <= 0.05
    low, high = finding.interval
    assert 0 < low <= 1 <= high


def test_at_most_fifty_shares_are_kept_the_largest_first():
    assert SHARES_SHOWN == 50
    (missing,) = missing_half(60).summary.missing
    assert len(missing.shares) == 50
    values = [end.value for end in missing.shares]
    assert values == sorted(values, reverse=True)
    # of equal shares the first groups, in their order
    assert [end.group["group"] for end in missing.shares[:3]] == ["g00", "g01", "g02"]


def test_shares_are_of_single_attributes_only():
    users = pl.DataFrame({"user_id": range(8), "a": [*"xy"] * 4, "b": [*"ppqq"] * 2})
    predictions = one_each({user: None if user < 2 else 1 for user in range(8)})
    (missing,) = audit(predictions, users, "a,b").summary.missing
    assert {(*end.group,) for end in missing.shares} == {("a",), ("b",)}
    assert sum(end.support for end in missing.shares) == 2 * 8


def test_it_is_kept_in_json():
    summary = missing_half(6).summary
    again = AuditSummary.model_validate_json(summary.model_dump_json())
    assert again.missing == summary.missing
    assert json.loads(summary.model_dump_json())["missing"][0]["kind"] == "no relevant item"
    # results of before have none
    before = {
        name: part
        for name, part in json.loads(summary.model_dump_json()).items()
        if name != "missing"
    }
    assert AuditSummary.model_validate(before).missing == ()
