"""Options of a search: budgets, the reference sample, hyper-parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fairrec.core.errors import FairRecError, InputError
from fairrec.search.options import Search, users_allowed
from fairrec.search.searcher import hyper_parameters
from tests.search.search_worlds import space_of


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"name": 5}, "invalid name: expected a searcher's name, got 5"),
        ({"name": None}, "invalid name: expected a searcher's name, got None"),
        ({"name": "adaptve"}, "No searcher 'adaptve'. Did you mean 'adaptive'?"),
        ({"name": "dpso", "hyper": {"alfa": 1}}, "of dpso 'alfa'. Did you mean 'alpha'?"),
        ({"name": "random", "hyper": {"a": 1}}, "'random' has no hyper-parameter 'a'."),
        ({"hyper": {"confidence": 1.0}}, "invalid hyper-parameter confidence: should be less"),
        ({"budget_seconds": 0}, "invalid budget_seconds: expected"),
        ({"budget_seconds": math.inf}, "invalid budget_seconds: expected"),
        ({"reference": 0}, "invalid reference: expected"),
        ({"reference": 1.5}, "invalid reference: expected"),
    ],
    ids=str,
)
def test_impossible_options_of_a_search_are_refused(options, says):
    with pytest.raises(FairRecError) as caught:
        Search(**{"name": "adaptive", **options})
    assert says in str(caught.value)


BELOW_0, NO_SHARE, NO_NUMBER = -0.01, 1.01, math.nan
WRONG = {
    "adaptive": {
        "tolerance": (BELOW_0, NO_NUMBER),
        "confidence": (0, 1),
        "findings": (BELOW_0, 1),
        "steps": (0, 1.5),
        "at_once": (0,),
    },
    "fairas": {
        "samples": (0,),
        "rounds": (0,),
    },
    "testsgd": {"theta": (BELOW_0, NO_SHARE)},
    "dpso": {
        "alpha": (BELOW_0, None, "x"),
        "c1": (BELOW_0,),
        "c2": (math.inf,),
        "v_max": (0,),
        "epsilon": (0, NO_SHARE),
        "iterations": (0, 2.5),
        "shared": (2,),
    },
    "pso": {"inertia": (BELOW_0,)},
}


@pytest.mark.parametrize(
    ("name", "given"),
    [(name, {key: one}) for name, by in WRONG.items() for key, all_ in by.items() for one in all_],
    ids=str,
)
def test_impossible_hyper_parameters_are_refused_by_name(name, given):
    with pytest.raises(InputError, match=f"invalid hyper-parameter {next(iter(given))}: should be"):
        hyper_parameters(name, given)


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


def test_a_sample_that_shows_large_groups_is_large_enough():
    space = space_of([np.repeat([0, 1], 50_000)], (2,), min_users=1)
    assert Search("adaptive", budget_users=5_000).n_reference(space) == 2_000
    assert Search("adaptive", budget_users=50_000).n_reference(space) == 10_000


@pytest.mark.parametrize(
    ("given", "users"),
    [
        (None, None),
        (1, 1),
        ("500", 500),
        # more than there are is for the caller to see
        (999_999, 999_999),
        ("10%", 200),
        ("100%", 2_000),
        # 29 / 100 x 100 is a hair below 29 for a computer
        ("29%", 580),
        # 1.5 users: the budget is not exceeded
        ("0.075%", 1),
        # at least one
        ("0.001%", 1),
    ],
)
def test_budget_is_a_number_of_users_or_a_share(given, users):
    assert users_allowed(Search(budget_users=given).budget_users, 2_000) == users


@pytest.mark.parametrize(
    "given",
    [
        0, 2.5, "", "many", "0%", "101%", "nan", "10% of all", "1,5%",
    ],
)  # fmt: skip
def test_impossible_budget_is_refused_by_name(given):
    with pytest.raises(InputError) as caught:
        Search("adaptive", budget_users=given)
    assert str(caught.value) == (
        "invalid budget_users: expected a number of users from 1, or a percentage above 0% and up "
        f"to 100%, got {given!r}"
    )
