"""Fairness among the tests of a recommender."""

from __future__ import annotations

import pytest

from fairrec.testing import assert_within
from tests.gating.judged_world import planted

WITHIN = {"rule": [{"metric": "hits", "max_worse": 0.5}]}
BEYOND = {"rule": [{"metric": "hits", "max_worse": 0.03}]}
OPEN = {"rule": [{"metric": "clicks", "max_worse": 0.01}]}


def test_a_result_within_its_policy_passes():
    assert assert_within(planted(), WITHIN).has_passed


def test_a_result_beyond_it_fails_with_the_table_of_the_gate():
    with pytest.raises(AssertionError) as failed:
        assert_within(planted(), BEYOND)
    said = str(failed.value)
    assert "FAIL  hits: no group is worse by more than 0.03 | gender=F, age=56+" in said
    assert "to pass:" in said and "Failed: 1 of 1 check." in said


def test_what_is_inconclusive_fails_unless_it_may_pass():
    with pytest.raises(AssertionError, match="which counts as a failure"):
        assert_within(planted(), OPEN)
    assert assert_within(planted(), OPEN, inconclusive="pass").outcome == "inconclusive"


pytest_plugins = ("pytester",)

TEST = """
import fairrec

def test_groups(fairrec_gate):
    fairrec_gate(fairrec.load("audit"))

def test_with_a_policy_of_its_own(fairrec_gate):
    fairrec_gate("audit", policy={"rule": [{"metric": "hits", "max_worse": 0.6}]})
"""


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """Import all of it before pytester, which takes away what a test imports: numba breaks then."""
    planted()


@pytest.mark.parametrize(("limit", "passed", "failed"), [(0.5, 2, 0), (0.03, 1, 1)])
def test_a_project_with_a_policy_and_a_test(pytester, limit, passed, failed):
    planted().save(pytester.path / "audit", report=False)
    pytester.makefile(".toml", fairrec=f'[[rule]]\nmetric = "hits"\nmax_worse = {limit}\n')
    pytester.makepyfile(TEST)
    result = pytester.runpytest()
    result.assert_outcomes(passed=passed, failed=failed)
    if failed:
        result.stdout.fnmatch_lines(["*FAIL  hits: no group is worse by more than 0.03 | *"])
        # the table, and nothing of how it was come to
        result.stdout.fnmatch_lines(["E *AssertionError: Failed: 1 of 1 check."])
        result.stdout.no_fnmatch_line("*def assert_within*")
