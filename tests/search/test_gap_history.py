from __future__ import annotations

import numpy as np

from fairrec.search.evidence import GapHistory


def history_of_two_metrics():
    history = GapHistory(2)
    history.add(10, 0.5, np.array([0.0, 0.0]), 1)
    history.add(25, 1.5, np.array([0.25, 0.0]), 2)
    history.add(40, 2.0, np.array([0.25, 0.75]), 3)
    return history


def test_entries_are_kept_in_their_order():
    history = history_of_two_metrics()
    assert history.users == [10, 25, 40]
    assert history.seconds == [0.5, 1.5, 2.0]
    assert history.gaps == [(0.0, 0.0), (0.25, 0.0), (0.25, 0.75)]


def test_a_gap_counts_from_the_user_with_whom_it_was_found():
    found = history_of_two_metrics().gaps_after(np.array([0, 9, 10, 24, 25, 39, 40, 1_000]))
    assert found.tolist() == [
        [0, 0, 0, 0, 0.25, 0.25, 0.25, 0.25],
        [0, 0, 0, 0, 0, 0, 0.75, 0.75],
    ]


def test_users_may_be_asked_for_in_any_order():
    found = history_of_two_metrics().gaps_after(np.array([40, 10, 25]))
    assert found.tolist() == [[0.25, 0, 0.25], [0.75, 0, 0]]


def test_nothing_is_found_before_the_first_entry():
    history = GapHistory(1)
    history.add(10, 0.0, np.array([3.0]), 4)
    assert history.gaps_after(np.array([9, 10])).tolist() == [[0.0, 3.0]]


def test_no_fully_scored_group_is_a_gap_of_zero_for_each_metric():
    assert GapHistory(3).gaps_after(np.array([5, 10])).tolist() == [[0.0, 0.0]] * 3


def test_last_of_several_entries_with_the_same_users_counts():
    history = GapHistory(1)
    history.add(10, 0.0, np.array([1.0]), 5)
    history.add(10, 0.0, np.array([2.0]), 6)
    assert history.gaps_after(np.array([10])).tolist() == [[2.0]]
