from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.models.data import feature_tables
from tests.fairrec_paper.models.small_bundle import small_bundle


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
