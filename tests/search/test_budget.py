from __future__ import annotations

import pytest
from pytest import approx

from fairrec.core.errors import InputError
from fairrec.search.options import Budget, Search, paper_seconds, users_allowed


@pytest.mark.parametrize(
    ("given", "users"),
    [
        (None, None),
        (1, 1),
        ("500", 500),
        (" 500 ", 500),
        ("1,000", 1_000),
        ("1_000", 1_000),
        ("1e3", 1_000),
        # more than there are is for the caller to see
        (999_999, 999_999),
        ("10%", 200),
        ("10 %", 200),
        ("100%", 2_000),
        ("0.5%", 10),
        # 1.5 users: the budget is not exceeded
        ("0.075%", 1),
        # at least one
        ("0.001%", 1),
    ],
)
def test_budget_is_a_number_of_users_or_a_share(given, users):
    assert users_allowed(Search(budget_users=given).budget_users, 2_000) == users


@pytest.mark.parametrize("percent", range(1, 101))
def test_whole_shares_of_a_hundred_are_exact(percent):
    # though 29 / 100 x 100 is a hair below 29 for a computer
    assert users_allowed(f"{percent}%", 100) == percent


@pytest.mark.parametrize(
    "given",
    [
        0, -5, 2.5, "2.5", "", "%", "many", "0%", "-1%", "101%",
        "nan", "inf", "nan%", "inf%", "10%%", "10% of all", True,
        # 1.5% with a comma of another country, and no thousand
        "1,5%", "1,5", "1,00",
    ],
)  # fmt: skip
def test_impossible_budget_is_refused_by_name(given):
    with pytest.raises(InputError) as caught:
        Search("adaptive", budget_users=given)
    assert str(caught.value) == (
        "invalid budget_users: expected a number of users from 1, or a percentage above 0% and up "
        f"to 100%, got {given!r}"
    )


def test_time_of_the_paper_counts_users_and_combinations():
    assert paper_seconds(6_040, 294) == approx(0.005 * 6_040 + 0.005 * 294)


def test_a_budget_has_no_limit_unless_given():
    assert (Budget().users, Budget().seconds) == (None, None)
