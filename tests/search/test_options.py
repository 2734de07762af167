from __future__ import annotations

import math

import numpy as np
import pytest

from fairrec.core.errors import FairRecError
from fairrec.search.options import Search
from tests.search.search_worlds import space_of


def test_options_may_be_text():
    options = Search(name="adaptive", budget_users="1,000", hyper="steps=3", reference="0.5")
    assert options == Search("adaptive", budget_users=1000, hyper={"steps": 3}, reference=0.5)


REFUSED = {
    "number": ({"name": 5}, "invalid name: expected a searcher's name, got 5"),
    "none": ({"name": None}, "invalid name: expected a searcher's name, got None"),
    "truth": ({"name": True}, "invalid name: expected a searcher's name, got True"),
    "unknown": ({"name": "adaptve"}, "No searcher 'adaptve'. Did you mean 'adaptive'?"),
    "hyper": (
        {"name": "dpso", "hyper": {"alfa": 1}},
        "No hyper-parameter of dpso 'alfa'. Did you mean 'alpha'?",
    ),
    "no hyper": (
        {"name": "random", "hyper": {"theta": 0.1}},
        "The searcher 'random' has no hyper-parameter 'theta'.",
    ),
    "hyper value": (
        {"name": "adaptive", "hyper": {"confidence": 1.0}},
        "invalid hyper-parameter confidence: expected a number above 0 and below 1, got 1",
    ),
    "hyper part": (
        {"name": "adaptive", "hyper": {"steps": 2.5}},
        "expected a whole number, got 2.5",
    ),
    "theta": (
        {"name": "testsgd", "hyper": {"theta": 1.5}},
        "invalid hyper-parameter theta: expected",
    ),
    "no users": ({"budget_users": 0}, "invalid budget_users: expected"),
    "no share": ({"budget_users": "0%"}, "invalid budget_users: expected"),
    "more than all": ({"budget_users": "101%"}, "invalid budget_users: expected"),
    "no number": ({"budget_users": "x"}, "invalid budget_users: expected"),
    "half a user": ({"budget_users": "2.5"}, "invalid budget_users: expected"),
    "negative": ({"budget_users": -3}, "invalid budget_users: expected"),
    "no seconds": ({"budget_seconds": 0}, "invalid budget_seconds: expected"),
    "negative seconds": ({"budget_seconds": -1.5}, "invalid budget_seconds: expected"),
    "endless": ({"budget_seconds": math.inf}, "invalid budget_seconds: expected"),
    "no reference": ({"reference": 0}, "invalid reference: expected"),
    "large reference": ({"reference": 1.5}, "invalid reference: expected"),
}


@pytest.mark.parametrize(("options", "says"), REFUSED.values(), ids=REFUSED)
def test_impossible_options_of_a_search_are_refused(options, says):
    with pytest.raises(FairRecError) as caught:
        Search(**{"name": "adaptive", **options})
    assert says in str(caught.value)


def test_the_sample_grows_where_groups_are_too_large_for_the_search():
    # four groups of 20 users, and six of 200
    codes = np.concatenate([np.repeat(np.arange(4), 20), np.repeat(np.arange(4, 10), 200)])
    space = space_of([codes], (10,), min_users=1)
    found = {users: Search("adaptive", budget_users=users) for users in (500, 499, 49)}
    # a fifth of 500 leaves 400, with which two groups of 200 can be scored
    assert found[500].n_reference(space) == 100
    # of fewer it leaves too few for six of ten groups, and a fifth is still the larger part
    assert found[499].n_reference(space) == 100
    # of 49 it leaves too few for any
    assert found[49].n_reference(space) == 49
    assert Search("adaptive", budget_users=49, reference=0.2).n_reference(space) == 10


def test_nine_of_ten_groups_out_of_reach_take_four_fifths():
    codes = np.concatenate([np.repeat(0, 20), np.repeat(np.arange(1, 10), 200)])
    space = space_of([codes], (10,), min_users=1)
    assert Search("adaptive", budget_users=100).n_reference(space) == 80


def test_a_sample_that_shows_large_groups_is_large_enough():
    space = space_of([np.repeat([0, 1], 50_000)], (2,), min_users=1)
    assert Search("adaptive", budget_users=5_000).n_reference(space) == 2_000
    assert Search("adaptive", budget_users=50_000).n_reference(space) == 10_000
