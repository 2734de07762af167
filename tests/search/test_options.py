from __future__ import annotations

import math

import numpy as np
import pytest

from fairrec.core.errors import FairRecError
from fairrec.search.options import SearchOptions
from tests.search.search_worlds import space_of


def test_options_may_be_text():
    options = SearchOptions.of(
        name="adaptive", budget_users="1,000", hyper="steps=3", reference="0.5"
    )
    assert options == SearchOptions(
        "adaptive", budget_users=1000, hyper={"steps": 3}, reference=0.5
    )


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
    "not the paper's": ({"budget": "foo"}, "invalid budget: expected 'paper', got 'foo'"),
    "two times": ({"budget": "paper", "budget_seconds": 3.0}, "Leave out budget_seconds."),
    "no reference": ({"reference": 0}, "invalid reference: expected"),
    "large reference": ({"reference": 1.5}, "invalid reference: expected"),
}


@pytest.mark.parametrize(("options", "says"), REFUSED.values(), ids=REFUSED)
def test_impossible_options_of_a_search_are_refused(options, says):
    with pytest.raises(FairRecError) as caught:
        SearchOptions(**{"name": "adaptive", **options})
    assert says in str(caught.value)


def test_the_sample_grows_where_groups_are_too_large_for_the_search():
    # 30 groups of 20 users, and two of 200
    codes = np.concatenate([np.repeat(np.arange(30), 20), np.repeat([30, 31], 200)])
    space = space_of([codes], (32,), min_users=1)
    found = {users: SearchOptions("adaptive", budget_users=users) for users in (900, 400, 100, 20)}
    # a fifth of 900 leaves 720, of which two groups of 200 can be scored
    assert found[900].n_reference(space) == 180
    # of 400 it leaves 320, and 400 of 1,000 users are in a group of more than half of that
    assert found[400].n_reference(space) == 160
    assert found[100].n_reference(space) == 40
    # of 20 it leaves 16: no group can be completed
    assert found[20].n_reference(space) == 20
    assert SearchOptions("adaptive", budget_users=20, reference=0.5).n_reference(space) == 10


def test_a_sample_that_shows_large_groups_is_large_enough():
    space = space_of([np.repeat([0, 1], 50_000)], (2,), min_users=1)
    assert SearchOptions("adaptive", budget_users=5_000).n_reference(space) == 2_000
    assert SearchOptions("adaptive", budget_users=50_000).n_reference(space) == 10_000
