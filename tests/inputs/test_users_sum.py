from __future__ import annotations

import polars as pl
import pytest

from fairrec.inputs.users import users_sum

IDS = pl.Series(["u1", "u2"])
GENDER, AGE = pl.Series("gender", ["F", "M"]), pl.Series("age", ["10", "20"])
KNOWN = users_sum(IDS, [GENDER, AGE])


def test_the_order_of_attributes_and_the_type_of_ids_change_nothing():
    assert users_sum(IDS.cast(pl.Categorical), [AGE, GENDER]) == KNOWN
    assert users_sum(pl.Series([1, 2]), []) == users_sum(pl.Series(["1", "2"]), [])


@pytest.mark.parametrize(
    ("ids", "labels"),
    [
        (["u1", "u3"], [GENDER, AGE]),
        (["u2", "u1"], [GENDER, AGE]),
        # the same characters one after the other
        (["u1u", "2"], [GENDER, AGE]),
        (["u1", "u2"], [GENDER]),
        (["u1", "u2"], [GENDER.reverse(), AGE]),
        (["u1", "u2"], [GENDER.alias("sex"), AGE]),
        (["u1", "u2"], [GENDER.alias("age"), AGE.alias("gender")]),
    ],
)
def test_any_other_user_or_value_is_seen(ids, labels):
    assert users_sum(pl.Series(ids), labels) != KNOWN
