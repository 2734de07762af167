"""What two audits tell of their groups, side by side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.comparison.pairing import in_common, published_groups
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


def test_items_that_vary_hide_no_change_that_other_users_show():
    """Items are the same in both audits, so that how much they differ is no noise."""

    def shown(seed, less):
        rng = np.random.default_rng(seed)
        popularity = np.linspace(-3, 3, 60) - less * (np.arange(60) % 2 == 0)
        ranked = np.argsort(-(popularity + rng.gumbel(size=(400, 60))), axis=1)[:, :5]
        lists = pl.DataFrame({"user_id": range(400), "item_id": ranked.tolist()})
        items = pl.DataFrame({"item_id": range(60), "made": ["here", "abroad"] * 30})
        return fairrec.audit(lists, items=items, side="items", by="made", permutations=20)

    before, same, less = shown(1, 0), shown(2, 0), shown(3, 1.5)
    told = published_groups(in_common(before, less), before, less)["exposure@5"]
    assert told.before.sd == told.after.sd == 0
    changes = [fairrec.compare(before, one).groups() for one in (same, less)]
    found = [
        table.filter(pl.col("made") == "here")["is_beyond_chance"].to_list() for table in changes
    ]
    assert found == [[False], [True]]
