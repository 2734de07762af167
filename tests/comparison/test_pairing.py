"""What two audits have in common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairrec.comparison.pairing import (
    axes,
    in_common,
    paired_users,
    shared_users,
)
from tests.compared_audits import audited, users_table

ODD = "value base"
USERS = users_table(**{ODD: ["a", "b"] * 300, "id": ["x", "y", "z"] * 200})


@pytest.fixture(scope="module")
def both():
    return audited(USERS, seed=1), audited(USERS, seed=2)


def test_attributes_may_be_called_as_columns_are(both):
    common = in_common(*both)
    assert common.attributes == (ODD, "id")
    assert axes(common.attributes) == ["a0", "a1"]
    pairing, shared = shared_users(*both, common)
    assert pairing.is_paired and shared.height == 600


def test_pairs_are_in_one_order_and_undefined_values_are_nan():
    holes = pl.when(pl.int_range(600) < 7).then(None).otherwise("clicks")
    base, candidate = audited(USERS, seed=1), audited(USERS, seed=2, values={"clicks": holes})
    turned = base.per_user.reverse()
    common = in_common(base, candidate)
    _, shared = shared_users(replace(base, per_user=turned), candidate, common)
    users = paired_users(shared, common, base, candidate)
    of_user = dict(base.per_user.select("user_id", "clicks").iter_rows())
    assert users.before[0].tolist() == [of_user[name] for name in candidate.per_user["user_id"]]
    assert np.isnan(users.after[0]).sum() == 7
    assert users.conditions[0].height == users.is_compared.sum() == 11


def test_groups_of_one_audit_only_are_not_compared(both):
    base, candidate = both
    some = base.group_table.filter(pl.col("id").is_null() | (pl.col("id") != "x"))
    common = in_common(replace(base, group_table=some), candidate)
    _, shared = shared_users(base, candidate, common)
    users = paired_users(shared, common, base, candidate)
    assert users.conditions[0].height == 2 + 2 + 4
    assert "x" not in users.conditions[0]["id"]


def test_a_depth_of_full_keeps_to_intersections_of_all_attributes(both):
    full = audited(USERS, seed=2, depth="full")
    common = in_common(both[0], full)
    _, shared = shared_users(both[0], full, common)
    users = paired_users(shared, common, both[0], full)
    assert {*users.conditions[0]["depth"]} == {2}
