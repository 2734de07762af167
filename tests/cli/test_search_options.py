from __future__ import annotations

import pytest

from fairrec.cli.model_options import search_options
from fairrec.core.errors import InputError
from fairrec.core.options import from_command_line
from fairrec.search.options import SearchOptions


def test_without_a_search_there_is_none():
    assert search_options(None, {}, None) is None


def test_theta_is_a_hyper_parameter_among_others():
    assert search_options("testsgd", {"budget_users": 9}, 0.02) == SearchOptions(
        "testsgd", budget_users=9, hyper={"theta": 0.02}
    )
    both = search_options("adaptive", {"hyper": {"steps": 3.0}}, None)
    assert both == SearchOptions("adaptive", hyper={"steps": 3.0})


def test_theta_is_given_once():
    given = {"hyper": {"theta": 0.2}}
    with (
        from_command_line(),
        pytest.raises(InputError, match=r"^Give --theta or --hyper theta=0.2"),
    ):
        search_options("testsgd", given, 0.1)


@pytest.mark.parametrize(
    ("given", "theta", "named"),
    [
        ({"hyper": {"steps": 3.0}}, None, "--hyper"),
        ({"reference": 0.5}, None, "--reference"),
        ({}, 0.1, "--theta"),
        ({"budget_users": 9}, 0.1, "--budget-users"),
    ],
)
def test_settings_of_a_search_that_is_not_named_are_refused(given, theta, named):
    with from_command_line(), pytest.raises(InputError, match=f"^{named} is for a search. Add"):
        search_options(None, given, theta)
