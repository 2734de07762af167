from __future__ import annotations

from fairrec.models.deep.features import feature_tables
from tests.models.small_bundle import small_bundle


def test_missing_attributes_have_a_code_of_their_own():
    bundle = small_bundle()
    users = bundle.users.with_columns(gender=bundle.users["gender"].replace("F", None))
    codes = feature_tables(users, bundle.items, ["gender"]).user_codes[:, 1]
    assert (codes == 0).sum() == (bundle.users["gender"] == "F").sum()
