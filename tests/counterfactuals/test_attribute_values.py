"""Users with another value of an attribute."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.core.errors import InputError
from fairrec.counterfactuals.attribute_values import refuse_unseen, values_of, with_value
from fairrec.scoring.features import JoinedFeatures, is_missing
from fairrec.scoring.model import FunctionModel

FEATURES = JoinedFeatures(
    {
        "gender": np.array(["F", "M", None, "F"], dtype=object),
        "age": np.array([10, 9, 9, 9]),
        "income": np.array([1.5, np.nan, 2.0, 1.5]),
    }
)


def test_values_are_in_order_and_unknown_ones_are_none():
    found = values_of(FEATURES, ["gender"])
    assert found.values == (("F",), ("M",))
    assert found.value_of_lists.tolist() == [0, 1, -1, 0]
    assert values_of(FEATURES, ["age"]).values == (("9",), ("10",))
    assert values_of(FEATURES, ["income"]).value_of_lists.tolist() == [0, -1, 1, 0]


def test_of_several_attributes_those_count_that_somebody_has_together():
    found = values_of(FEATURES, ["gender", "age"])
    assert [found.words(at) for at in range(3)] == [
        "gender=F, age=9",
        "gender=F, age=10",
        "gender=M, age=9",
    ]
    assert found.value_of_lists.tolist() == [1, 2, -1, 0]
    with pytest.raises(InputError, match="no user has these values together"):
        found.position({"gender": "M", "age": "10"})


def test_values_that_look_alike_have_words_of_their_own():
    long = "x" * 100
    columns = {
        "town": [f"{long}A", f"{long}B", "a\nb", "a\\nb"],
        "first": ["1, second=2", "1", "1", "1"],
        "second": ["3", "2, second=3", "2", "3"],
    }
    features = JoinedFeatures(
        {name: np.array(values, dtype=object) for name, values in columns.items()}
    )
    for names in (["town"], ["first", "second"]):
        found = values_of(features, names)
        assert len({found.words(at) for at in range(4)}) == 4
    assert found.words(0) == "first=1, second=2"


def test_everybody_gets_the_value_as_the_model_knows_it_and_all_else_stays():
    values = values_of(FEATURES, ["age"])
    changed = with_value(FEATURES, values, 1)
    assert changed.per_user["age"].tolist() == [10] * 4
    assert changed.per_user["age"].dtype == FEATURES.per_user["age"].dtype
    assert changed.per_user["gender"] is FEATURES.per_user["gender"]
    assert FEATURES.per_user["age"].tolist() == [10, 9, 9, 9]


def test_a_value_that_nobody_has_is_refused_with_those_there_are():
    with pytest.raises(InputError, match=r"No value of gender 'f'.*Did you mean 'F'"):
        values_of(FEATURES, ["gender"]).position({"gender": "f"})


def test_a_whole_number_names_the_value_of_a_column_with_fractions():
    income = values_of(FEATURES, ["income"])
    assert income.position({"income": "2"}) == income.position({"income": "2.0"}) == 1
    with pytest.raises(InputError, match=r"No value of income '3'"):
        income.position({"income": "3"})
    codes = values_of(JoinedFeatures({"zip": np.array(["01", "2"], dtype=object)}), ["zip"])
    with pytest.raises(InputError, match=r"No value of zip '1'"):
        codes.position({"zip": "1"})


def test_an_attribute_that_a_model_never_gets_is_refused():
    model = FunctionModel(max, features="users:age")
    refuse_unseen(model, ["age"])
    with pytest.raises(InputError, match="given only age of its users, so gender itself"):
        refuse_unseen(model, ["gender"])


def test_none_and_nan_are_missing():
    assert [is_missing(one) for one in (None, float("nan"), "", 0)] == [True, True, False, False]
