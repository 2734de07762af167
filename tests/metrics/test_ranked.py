from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairrec.metrics.ranked import mean_over_places
from tests.metrics.metric_lists import Candidate, random_world, ranked_lists

THREE = [
    [Candidate(7, 0.2, 1.0), Candidate(4, 0.9, 0.0), Candidate(9, 0.5, 3.0)],
    [],
    [Candidate(4, 0.1, 2.0)],
]


def approx(values):
    return pytest.approx(values, nan_ok=True)


def ids_of(lists, k):
    """The items in the first places of each list, as they were called."""
    ids = lists.candidates.item_ids.to_list()
    return [[ids[item] for item in row if item >= 0] for row in lists.items(k)]


def test_first_places_by_hand():
    lists = ranked_lists(THREE, max_k=2)
    assert ids_of(lists, 2) == [[4, 9], [], [4]]
    assert lists.labels(2).tolist() == [[0, 3], [0, 0], [2, 0]]
    assert lists.ideal_labels(2).tolist() == [[3, 1], [0, 0], [2, 0]]
    assert lists.items(2)[1:].tolist() == [[-1, -1], [lists.items(1)[0, 0], -1]]
    assert lists.lengths.tolist() == [3, 0, 1]
    assert lists.n_relevant.tolist() == [2, 0, 1]


def test_a_mean_over_places_leaves_out_items_of_which_nothing_is_known():
    lists = ranked_lists(THREE, max_k=2)
    per_item = np.full(len(lists.candidates.item_ids), np.nan)
    of_id = dict(zip(lists.candidates.item_ids.to_list(), range(len(per_item)), strict=True))
    per_item[[of_id[4], of_id[9]]] = [1.0, 4.0]
    assert mean_over_places(lists, 3, per_item) == approx([(1 + 4) / 2, np.nan, 1])
    weights = np.array([1.0, 0.5, 0.25])
    assert mean_over_places(lists, 3, per_item, weights) == approx(
        [(1 * 1 + 0.5 * 4) / (1 + 0.5), np.nan, 1]
    )


def test_a_metric_may_look_deeper_than_was_asked_for():
    lists = ranked_lists(THREE, max_k=1)
    assert ids_of(lists, 5) == [[4, 9, 7], [], [4]]
    assert lists.ideal_labels(5)[0].tolist() == [3, 1, 0, 0, 0]


def test_threads_change_nothing():
    users = random_world(np.random.default_rng(0), n_users=600).users
    one, three = (ranked_lists(users, max_k=4, threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(three.items(4), one.items(4))
    np.testing.assert_array_equal(three.ideal_labels(4), one.ideal_labels(4))
    np.testing.assert_array_equal(three.n_relevant, one.n_relevant)


def test_labels_that_are_not_there_cannot_be_asked_for():
    lists = ranked_lists(THREE)
    unlabelled = replace(lists, candidates=replace(lists.candidates, labels=None))
    with pytest.raises(RuntimeError, match="must be registered with needs='labels'"):
        unlabelled.labels(1)
    assert ids_of(unlabelled, 1) == [[4], [], [4]]
