"""A result among the tests of a recommender."""

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
    with pytest.raises(AssertionError, match="which counts as failed"):
        assert_within(planted(), OPEN)
    assert assert_within(planted(), OPEN, inconclusive="pass").outcome == "inconclusive"
