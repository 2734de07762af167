from __future__ import annotations

import pytest

from fairrec.core.errors import FairRecError
from fairrec.demo.world_options import WorldOptions, skewed


def test_attributes_and_the_worse_served_group_may_be_text():
    options = WorldOptions(attributes="gender:2,age:3", worse_served="gender=0,age=2")
    assert options.attributes == {"gender": skewed(2, 0.5), "age": skewed(3, 0.5)}
    assert options.worse_served == {"gender": "0", "age": "2"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"worse_served": {"gendr": "F"}}, "Did you mean 'gender'"),
        ({"worse_served": {"gender": "X"}}, "No value of gender 'X'"),
        ({"strength": 2.0}, "invalid strength: expected a number from 0 to 1, got 2.0"),
        ({"n_users": 0}, "invalid n_users: expected a whole number from 1, got 0"),
        ({"n_items": 5, "n_categories": 6}, "an item for each of its 6 categories, and has 5"),
        ({"attributes": "age"}, "invalid attributes: expected name:number"),
        ({"attributes": "age:0"}, "invalid attributes: expected name:number"),
        ({"attributes": [5]}, "invalid attributes: expected name:number.*, got 5"),
        ({"attributes": {"age": 5}}, "invalid attributes: expected name:number.*, got 5"),
        ({"attributes": ""}, "invalid attributes: expected name:number.*, got ''"),
        ({"attributes": {}}, "invalid attributes: expected name:number.*, got {}"),
        ({"name": 5}, "invalid name: expected text, got 5"),
        ({"attributes": {"user_id": {"a": 1}}}, "cannot be called user_id"),
        ({"gap": "speed"}, "invalid gap: expected 'accuracy', 'diversity' or"),
    ],
)
def test_impossible_worlds_are_refused(options, said):
    with pytest.raises(FairRecError, match=said):
        WorldOptions(**options)
