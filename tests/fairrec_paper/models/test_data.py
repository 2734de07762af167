"""A bundle as arrays: features, rows to train on, candidates; a recommender without training."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.models.data import TasteRecommender, feature_tables, training_data
from tests.fairrec_paper.models.small_run import small_bundle


def test_missing_attributes_have_a_code_of_their_own():
    bundle = small_bundle()
    users = bundle.users.with_columns(gender=bundle.users["gender"].replace("F", None))
    codes = feature_tables(users, bundle.items, ["gender"]).user_codes[:, 1]
    assert (codes == 0).sum() == (bundle.users["gender"] == "F").sum()


def test_a_model_sees_the_features_that_are_named_and_no_others():
    bundle = small_bundle()
    users = bundle.users.with_columns(zip_code=pl.lit("55455"))
    items = bundle.items.with_columns(price=pl.Series(range(bundle.items.height)) // 10)
    named = feature_tables(users, items, ["gender"], ["zip_code", "price"])
    assert named.user_sizes == (users.height, 1 + 1)
    assert named.item_sizes == (items.height, 1 + 8)
    assert named.item_codes[23].tolist() == [23, 1 + 2]
    assert named.n_categories == 0
    with_categories = feature_tables(users, items, ["gender"], ["gender", "categories"])
    by_default = feature_tables(users, items, ["gender"])
    assert with_categories.user_sizes == by_default.user_sizes
    assert (with_categories.item_categories == by_default.item_categories).all()


def test_features_that_no_table_has_are_refused():
    bundle = small_bundle()
    items = bundle.items.with_columns(gender=pl.lit("F"))
    for name, where in (("zip", "neither users nor items"), ("gender", "both users and items")):
        with pytest.raises(InputError, match=f"'{name}' is a column of {where}. Name some of"):
            feature_tables(bundle.users, items, ["gender"], [name])


def test_candidates_are_items_the_user_never_touched_and_the_target():
    bundle = small_bundle()
    data = training_data(bundle, n_candidates=20)
    touched = set(
        zip(*(bundle.interactions[c].to_list() for c in ("user_id", "item_id")), strict=True)
    )
    for targets in (data.test, data.validation):
        assert (targets.is_target.sum(axis=1) == 1).all()
        assert targets.is_target[:, 0].mean() < 0.3
        for user, items, is_target in zip(
            targets.users, targets.items, targets.is_target, strict=True
        ):
            assert len(set(items.tolist())) == 20
            for item, target in zip(items, is_target, strict=True):
                pair = (bundle.users["user_id"][int(user)], bundle.items["item_id"][int(item)])
                assert (pair in touched) == bool(target)


def test_training_rows_held_out_rows_and_targets_do_not_overlap():
    bundle = small_bundle()
    data = training_data(bundle)
    n_items = bundle.items.height
    parts = [
        set((users * n_items + items).tolist())
        for users, items in (
            (data.users, data.items),
            (data.holdout_users, data.holdout_items),
            (data.test.users, data.test.items[data.test.is_target].astype(np.int64)),
            (
                data.validation.users,
                data.validation.items[data.validation.is_target].astype(np.int64),
            ),
        )
    ]
    assert sum(map(len, parts)) == len(set.union(*parts)) == bundle.interactions.height
    assert len(parts[1]) / (len(parts[0]) + len(parts[1])) == pytest.approx(0.2, abs=0.03)
    history = pl.DataFrame(data.history)
    assert history.height == len(parts[0]) + len(parts[1])


def test_predictions_are_the_candidates_of_either_target_with_scores():
    world = TasteRecommender(small_bundle())
    test, validation = world.predictions(), world.predictions("validation")
    assert test.columns == ["user_id", "item_id", "label", "score"]
    assert test.height == world.candidates()["item_id"].list.len().sum()
    assert not test.drop("score").equals(validation.drop("score"))
    assert test.group_by("user_id").agg(pl.col("label").sum())["label"].unique().to_list() == [1]
