from __future__ import annotations

import pytest

from fairrec_paper.reproduction.fixed_time import (
    share_of_work,
    within_combinations,
    within_time,
    within_users,
)


def test_the_share_of_work_is_the_fixed_time_over_the_time_of_the_papers_themis():
    seconds = 0.005 * (6040 + 294)
    by_hand = sum(seconds / themis for themis in (140.53, 117.41, 112.28, 181.09)) / 4
    assert share_of_work("movielens-1m") == pytest.approx(by_hand)
    assert {method.users for method in within_users("movielens-1m")} == {
        share_of_work("movielens-1m")
    }
    for method in within_combinations("movielens-1m"):
        assert (method.users, method.combinations) == (None, share_of_work("movielens-1m"))
    assert all(method.fixed_time and method.users is None for method in within_time("lfm360k"))
