from __future__ import annotations

import re

import pytest

from fairrec.core.errors import InputError
from fairrec.scoring.options import Feature, parse_features


def test_features_are_text_or_a_list_or_none():
    expected = (Feature("users", "age"), Feature("items", "price"))
    assert parse_features("users:age,items:price") == expected
    assert parse_features(["users:age", "items:price"]) == expected
    assert parse_features(None) == ()


@pytest.mark.parametrize(
    ("features", "says"),
    [
        ("age", "invalid features: expected TABLE:COLUMN"),
        ("history:n", "invalid features: expected TABLE:COLUMN"),
        ("users:", "invalid features: expected TABLE:COLUMN"),
        ("users:age,items:age", "two columns would be called 'age'"),
        ("users:user_id", "two columns would be called 'user_id'"),
    ],
)
def test_what_names_no_column_or_one_twice_is_refused(features, says):
    with pytest.raises(InputError, match=re.escape(says)):
        parse_features(features)


def test_a_column_without_a_table_is_of_the_table_before():
    assert parse_features("users:gender,age,items:price") == (
        Feature("users", "gender"),
        Feature("users", "age"),
        Feature("items", "price"),
    )
    with pytest.raises(InputError, match="expected TABLE:COLUMN"):
        parse_features("age,users:gender")
