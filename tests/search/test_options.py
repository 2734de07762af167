from __future__ import annotations

import math

import pytest

from fairrec.core.errors import FairRecError
from fairrec.search.options import SearchOptions


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
