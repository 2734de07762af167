"""What two audits tell of their groups, side by side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairrec.workflows.pairing import in_common
from fairrec.workflows.published import published_groups
from tests.compared_audits import audited, users_table

ODD = "value base"
USERS = users_table(**{ODD: ["a", "b"] * 300, "id": ["x", "y", "z"] * 200})


@pytest.fixture(scope="module")
def both():
    return audited(USERS, seed=1), audited(USERS, seed=2)


def told_of(base, candidate):
    return published_groups(in_common(base, candidate), base, candidate)["clicks"]


def test_attributes_may_be_called_as_columns_are(both):
    told = told_of(*both)
    assert told.conditions.columns == [ODD, "id", "depth"]
    assert told.conditions.height == 2 + 3 + 6
    assert told.is_in_both.all()
    compared = told.conditions.filter(pl.col("id").is_null())
    left = told.left_by(compared)
    assert told.conditions[left]["id"].null_count() == 0 and len(left) == 9


def test_groups_of_one_audit_only_are_told_with_their_users(both):
    base, candidate = both
    some = candidate.group_table.filter(pl.col("id").is_null() | (pl.col("id") != "x"))
    told = told_of(base, replace(candidate, group_table=some))
    is_gone = (told.conditions["id"] == "x").fill_null(False).to_numpy()
    assert is_gone.sum() == 3 and (told.is_in_both == ~is_gone).all()
    assert {*told.before.n[is_gone]} == {200.0, 100.0}
    assert np.isnan(told.after.n[is_gone]).all()
    assert {*told.conditions["depth"]} == {1, 2}


def test_groups_that_the_other_audit_did_not_look_for_are_left_out(both):
    base, _ = both
    full = audited(USERS, seed=2, depth="full")
    assert {*told_of(base, full).conditions["depth"]} == {2}
    for pair in ((base, 150), (150, base)):
        sides = [audited(USERS, seed=2, min_support=a) if a == 150 else a for a in pair]
        assert {*told_of(*sides).conditions["depth"]} == {1}
