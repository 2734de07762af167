from __future__ import annotations

import pytest

from fairrec.auditing.model_options import search_options
from fairrec.core.errors import InputError
from fairrec.core.options import from_command_line
from fairrec.search.options import SearchOptions


def test_without_a_search_there_is_none():
    assert search_options(None, {}) is None


def test_what_is_given_about_a_search_is_taken():
    found = search_options("testsgd", {"budget_users": 9, "hyper": {"theta": 0.02}})
    assert found == SearchOptions("testsgd", budget_users=9, hyper={"theta": 0.02})


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"hyper": {"steps": 3.0}}, "--hyper"),
        ({"reference": 0.5}, "--reference"),
        ({"budget_users": 9, "hyper": {"steps": 3.0}}, "--budget-users"),
    ],
)
def test_settings_of_a_search_that_is_not_named_are_refused(given, named):
    with from_command_line(), pytest.raises(InputError, match=f"^{named} is for a search. Add"):
        search_options(None, given)
