"""What changes for each user."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from tests.counterfactuals.flipped_world import (
    N_USERS,
    blind,
    direct,
    flipped,
    people,
)


def test_values_equal_two_audits_with_the_attribute_swapped():
    world = people()
    other = world.users.with_columns(
        gender=pl.col("gender").replace_strict({"F": "M", "M": "F"}),
    )

    def audited(users: pl.DataFrame) -> pl.Series:
        gender = users["gender"].to_numpy()

        def score(user_ids: np.ndarray, item_ids: np.ndarray) -> np.ndarray:
            return direct(user_ids, item_ids, gender[user_ids], None)

        result = fairrec.audit(
            world.candidates, users=users, by="age", metrics="mrr@3", scorer=score, permutations=0
        )
        return result.per_user.sort("user_id")["mrr@3"]

    expected = audited(other) - audited(world.users)
    found = flipped(direct).audit.per_user.sort("user_id")["mrr@3_change"]
    assert found.to_list() == pytest.approx(expected.to_list())


def test_several_values_are_tried_one_by_one_and_each_pair_is_told():
    def by_age(user_ids, item_ids, age):
        return np.where(age == 60, item_ids, -item_ids)

    found = flipped(by_age, features="users:age", attribute="age", metrics="changed@3")
    assert len(found.summary.pairs) == 6
    moved = {(pair.of, pair.to): pair.changes["changed@3"].mean for pair in found.summary.pairs}
    assert moved["age=20", "age=40"] == 0
    assert moved["age=20", "age=60"] == moved["age=60", "age=20"] == 1
    # the mean over the other values, and whether any of them affects
    users = found.audit.per_user
    assert users.filter(age="20")["changed@3"].unique().to_list() == [0.5]
    assert users.filter(age="20")["affected@3"].unique().to_list() == [1.0]


def test_attributes_are_changed_together():
    def young_women(user_ids, item_ids, gender, age):
        return np.where((gender == "F") & (age == 20), item_ids, -item_ids)

    asked = {"features": "users:gender,age", "metrics": "changed@3", "permutations": 0}
    one = flipped(young_women, attribute="gender", **asked)
    both = flipped(young_women, attribute="gender,age", **asked)
    assert one.summary.affected.share == pytest.approx(1 / 3, abs=0.05)
    assert len(both.summary.pairs) == 30
    # whoever is no young woman could be one
    assert both.summary.affected.share == 1
    named = flipped(
        young_women, attribute="gender,age", reference={"gender": "F", "age": "20"}, **asked
    )
    assert named.summary.reference == "gender=F, age=20"


def test_sampling_ends_once_the_share_affected_is_known_well_enough():
    found = flipped(blind, margin=0.02)
    affected = found.summary.affected
    assert (affected.high - affected.low) / 2 <= 0.02
    assert found.summary.n_users < 200
    tighter = flipped(blind, margin=0.005)
    assert tighter.summary.n_users > found.summary.n_users
    assert "the margin asked for, 2%, was reached" in " ".join(found.audit.warnings)
    unmet = flipped(direct, margin=0.001, budget_users=200)
    assert unmet.summary.n_users == 200
    assert "was not reached" in " ".join(unmet.audit.warnings)


def test_a_share_of_everyone_is_exact_and_one_of_some_has_an_interval():
    everyone = flipped(direct, margin=0.001, permutations=0)
    share = everyone.summary.affected
    assert share.n == everyone.summary.n_users_to_score == N_USERS
    assert share.low == share.high == share.share
    assert "confidence" not in everyone.audit.summary.title
    assert "exact for them" in " ".join(everyone.audit.warnings)
    # what other users like them would show has one still
    told = everyone.summary.changes["affected@3"]
    assert told.low < share.share < told.high
    some = flipped(direct, budget_users=200, permutations=0)
    assert (some.summary.changes["affected@3"].low, some.summary.changes["affected@3"].high) == (
        some.summary.affected.low,
        some.summary.affected.high,
    )
    assert "of 200 users drawn from 600 (95% confidence: " in some.audit.summary.title


def test_users_without_candidates_are_not_asked_about():
    world = people()
    empty = pl.when(pl.col("user_id") < 20).then(pl.lit([], dtype=pl.List(pl.Int64)))
    candidates = world.candidates.with_columns(
        empty.otherwise(pl.col(name)).alias(name) for name in ("item_id", "label")
    )
    found = flipped(direct, candidates=candidates, permutations=0)
    assert found.summary.affected.n == found.summary.n_users == N_USERS - 20
    assert any(note.startswith("20 users of the users table") for note in found.audit.warnings)
