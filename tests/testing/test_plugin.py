"""The fixture, as pytest finds it in a project of its own."""

from __future__ import annotations

import pytest

from tests.gating.judged_world import planted

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
