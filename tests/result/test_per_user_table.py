from __future__ import annotations

import polars as pl

from fairrec import Search
from tests.builders import audit, one_each


def test_each_user_has_attributes_as_text_and_a_value_where_it_is_defined():
    users = pl.DataFrame(
        {"user_id": [3, 1, 2], "age": [10, 20, None], "member": [True, False, True]}
    )
    predictions = one_each({2: 1, 3: None, 1: 2}, n_candidates=2)
    table = audit(predictions, users, "age,member", metrics="mrr@2,auc").per_user
    assert table.to_dicts() == [
        {"user_id": 1, "age": "20", "member": "False", "mrr@2": 0.5, "auc": 0.0},
        {"user_id": 2, "age": "(missing)", "member": "True", "mrr@2": 1.0, "auc": 1.0},
        {"user_id": 3, "age": "10", "member": "True", "mrr@2": None, "auc": None},
    ]
    assert table.schema["user_id"] == pl.Int64
    assert table.schema["age"] == pl.String


def test_users_a_search_did_not_score_have_no_value():
    users = pl.DataFrame({"user_id": range(30), "group": ["x", "y", "z"] * 10})
    predictions = one_each(dict.fromkeys(range(30), 1))
    search = Search("random", budget_users=12)
    table = audit(predictions, users, "group", search=search).per_user
    assert table.height == 30
    assert table["mrr@5"].count() == 12
    assert set(table["mrr@5"].drop_nulls()) == {1.0}
