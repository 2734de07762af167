"""Changes of sets of users as named parts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fairrec.result.metric_result import change_between, change_of, gap_change
from tests.compared_audits import audited, users_table

NAN = np.nan


def test_change_of_one_user_or_none_claims_nothing():
    one = change_of(np.array([0.1]), np.array([0.9]), True, 0.05)
    assert (one.n_users, one.interval, one.p_value, one.verdict) == (
        1,
        None,
        None,
        "not significant",
    )
    none = change_of(np.array([NAN]), np.array([0.9]), True, 0.05)
    assert (none.n_users, none.before, none.change, none.verdict) == (0, None, None, "unchanged")


def test_a_change_between_two_sets_of_users_is_that_of_their_means():
    users = users_table()
    metrics = [audited(users, seed).metrics["clicks"] for seed in (1, 2)]
    found = change_between(*metrics, 0.05)
    assert found.change == metrics[1].mean - metrics[0].mean
    low, high = found.interval
    error = math.sqrt(sum(part.sd**2 / 600 for part in metrics))
    assert high - low == pytest.approx(2 * 1.962 * error, rel=1e-3)
    assert change_between(metrics[0], metrics[1].model_copy(update={"sd": None}), 0.05) is None


def test_gaps_are_those_of_both_audits():
    first, last = (audited(users_table(), seed).metrics["clicks"] for seed in (1, 2))
    found = gap_change(first, last)
    assert (found.before, found.after) == (first.gap, last.gap)
    assert found.chance_after == last.chance
