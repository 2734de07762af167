"""What a counterfactual changes."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.auditing.options import CounterfactualOptions
from fairrec.core.errors import InputError


def test_options_are_read_from_text():
    found = CounterfactualOptions.of(attribute="gender,age", reference="gender=M,age=25")
    assert found.attribute == ("gender", "age")
    assert found.reference == {"gender": "M", "age": "25"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "Name what is to be changed"),
        ({"attribute": "age", "other_model": "runs/b"}, "and not both"),
        ({"other_model": "runs/b", "reference": "age=5"}, "reference is a value of attribute"),
        ({"attribute": "age", "budget_users": 0}, "invalid budget_users"),
        ({"attribute": "age", "margin": 0}, "invalid margin"),
        ({"attribute": "age,age"}, "'age' is named twice in attribute"),
    ],
)
def test_what_does_not_go_together_is_refused(given, says):
    with pytest.raises(InputError, match=says):
        CounterfactualOptions.of(**given)


@pytest.mark.parametrize("value", [40, np.int64(40), "40"])
def test_a_reference_may_be_a_number(value):
    assert CounterfactualOptions.of(attribute="age", reference={"age": value}).reference == {
        "age": "40"
    }
