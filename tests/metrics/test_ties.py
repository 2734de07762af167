"""Equal scores count at their mean over all orders, and no order of rows changes anything."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from fairrec.metrics.ranked import RankedLists
from tests.metrics.metric_lists import Candidate, User, ranked_lists, user, value_of, values_of
from tests.metrics.slow_metrics import SLOW_FROM_LABELS

CLOSED = [*SLOW_FROM_LABELS]


@st.composite
def tied_users(draw) -> User:
    """A few candidates with few scores and graded labels, fractions among them."""
    n = draw(st.integers(1, 6))
    scores = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from([0, 0, 0.1, 1, 0.7, 3]), min_size=n, max_size=n))
    return user(labels, scores)


def in_all_orders(candidates: User) -> list[User]:
    """The list with each order of its rows as a tie-break: no two scores are equal any more."""
    return [
        [
            one._replace(score=len(order) - place)
            for place, one in enumerate(sorted(order, key=lambda one: -one.score))
        ]
        for order in permutations(candidates)
    ]


@settings(max_examples=80)
@given(tied_users(), st.integers(1, 8))
def test_a_value_is_the_mean_over_all_orders_of_equal_scores(candidates, k):
    orders = in_all_orders(candidates)
    for name in CLOSED:
        slow = np.mean([SLOW_FROM_LABELS[name](order, k) for order in orders])
        assert value_of(f"{name}@{k}", candidates) == pytest.approx(slow, abs=1e-12, nan_ok=True)
    auc = np.mean(values_of("auc", orders))
    assert value_of("auc", candidates) == pytest.approx(auc, abs=1e-12, nan_ok=True)


@settings(max_examples=60)
@given(tied_users(), st.integers(1, 8))
def test_ndcg_is_that_of_scikit_learn(candidates, k):
    labels, scores = [one.label for one in candidates], [one.score for one in candidates]
    if len(labels) > 1 and any(labels):
        peer = ndcg_score([labels], [scores], k=k)
        assert value_of(f"ndcg@{k}", candidates) == pytest.approx(peer, abs=1e-12)


def seen(lists: RankedLists, k: int) -> list[list[int]]:
    ids = lists.candidates.item_ids.to_list()
    return [[ids[item] for item in row if item >= 0] for row in lists.items(k)]


@settings(max_examples=60)
@given(tied_users(), st.integers(1, 8), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_digit(candidates, k, random):
    other = random.sample(candidates, len(candidates))
    for name in (*(f"{name}@{k}" for name in CLOSED), "auc"):
        np.testing.assert_array_equal(values_of(name, [candidates]), values_of(name, [other]))
    one, two = (ranked_lists([rows], max_k=k) for rows in (candidates, other))
    assert seen(one, k) == seen(two, k)
    np.testing.assert_array_equal(one.labels(k), two.labels(k))


def test_one_score_for_everything_is_chance():
    constant = user([1, *[0] * 9], [0.5] * 10)
    by_hand = {
        "hit@5": 5 / 10,
        "recall@5": 5 / 10,
        "precision@5": 1 / 10,
        "mrr@5": (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 10,
        "map@5": (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 10,
        "ndcg@5": sum(1 / np.log2(place + 1) for place in range(1, 6)) / 10,
        "auc": 1 / 2,
    }
    for name, value in by_hand.items():
        assert value_of(name, constant) == pytest.approx(value)


def test_two_relevant_items_among_three_equal_ones_by_hand():
    # the best item is not relevant; of the next three two are, and two places are left
    candidates = user([0, 1, 1, 0], [9, 5, 5, 5])
    assert value_of("hit@2", candidates) == pytest.approx(2 / 3)
    assert value_of("hit@3", candidates) == 1
    assert value_of("recall@3", candidates) == pytest.approx(2 / 3)
    assert value_of("mrr@3", candidates) == pytest.approx(2 / 3 / 2 + 1 / 3 / 3)


def test_lists_without_equal_scores_in_their_first_places_are_as_they_were():
    lists = ranked_lists([user([0, 1, 0]), user([1, 0])], max_k=3)
    assert len(lists.ties(3).lists) == 0
    # equal scores below the cut-off are none of its business
    below = ranked_lists([user([0, 1, 0, 1], [4, 3, 1, 1])], max_k=4)
    assert (len(below.ties(2).lists), len(below.ties(3).lists)) == (0, 1)


def test_lists_tied_at_the_cut_off():
    lists = ranked_lists(
        [user([0, 1, 1], [3, 2, 2]), user([0, 1, 1]), user([0, 1], [2, 2]), []], max_k=2
    )
    assert lists.are_tied(1)[0].tolist() == [False, False, True, False]
    assert lists.are_tied(1)[1].tolist() == [False, False, True, False]
    assert lists.are_tied(2)[1].tolist() == [True, False, True, False]
    assert lists.are_tied(3)[1].tolist() == [True, False, True, False]


def test_equal_labels_at_every_place_are_worth_one_and_not_a_hair_more():
    candidates = [Candidate(item, 1.0, 0.1) for item in range(3)]
    assert value_of("ndcg@3", candidates) == 1
