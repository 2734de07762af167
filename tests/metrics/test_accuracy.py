"""Accuracy of small lists, worked out by hand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from fairrec.metrics import METRICS
from fairrec.metrics.accuracy import pooled_auc
from fairrec.metrics.ranked import RankedLists, mean_over_places
from tests.metrics.metric_lists import (
    Candidate,
    User,
    ranked_lists,
    user,
    value_of,
    values_of,
)
from tests.metrics.slow_metrics import SLOW_FROM_LABELS

LOG2_3, LOG2_5 = np.log2(3), np.log2(5)


def test_ndcg_of_a_single_target_is_the_discount_of_its_place():
    assert value_of("ndcg@5", user([1, 0, 0])) == 1
    assert value_of("ndcg@5", user([0, 1, 0])) == approx(1 / LOG2_3)
    assert value_of("ndcg@5", user([0, 0, 1])) == approx(1 / 2)
    assert value_of("ndcg@2", user([0, 0, 1])) == 0


def test_ndcg_gains_are_the_labels_and_the_ideal_is_the_users_own():
    gain = 1 + 0 / LOG2_3 + 3 / 2 + 2 / LOG2_5
    ideal = 3 + 2 / LOG2_3 + 1 / 2 + 0 / LOG2_5
    assert value_of("ndcg@4", user([1, 0, 3, 2])) == approx(gain / ideal)


def test_mrr_is_one_over_the_place_of_the_first_relevant_item():
    assert value_of("mrr@5", user([1, 0, 1])) == 1
    assert value_of("mrr@5", user([0, 0, 1, 1])) == approx(1 / 3)


def test_hit_is_one_as_soon_as_one_item_in_the_first_k_is_relevant():
    assert value_of("hit@3", user([0, 0, 1, 1])) == 1
    assert value_of("hit@2", user([0, 0, 1, 1])) == 0
    assert value_of("hit@9", user([0, 0.5])) == 1


def test_recall_is_the_share_of_the_relevant_items_in_the_first_k():
    assert value_of("recall@2", user([1, 0, 1, 1])) == approx(1 / 3)
    assert value_of("recall@4", user([1, 0, 1, 1])) == 1
    assert value_of("recall@1", user([0, 1])) == 0


def test_precision_is_the_share_of_the_first_k_places_that_are_relevant():
    assert value_of("precision@4", user([1, 0, 2, 0, 1])) == approx(2 / 4)


def test_map_is_the_mean_precision_at_the_places_of_the_relevant_items():
    assert value_of("map@5", user([1, 0, 1, 0, 1])) == approx((1 / 1 + 2 / 3 + 3 / 5) / 3)


def test_map_divides_by_k_where_more_items_than_k_are_relevant():
    assert value_of("map@2", user([1, 1, 1])) == approx((1 / 1 + 2 / 2) / 2)
    assert value_of("map@2", user([0, 1, 1])) == approx((1 / 2) / 2)


def test_auc_is_the_share_of_pairs_in_the_right_order():
    # relevant items with scores 4 and 2, others with 5, 3 and 1: 4 wins twice, 2 wins once
    assert value_of("auc", user([0, 1, 0, 1, 0])) == approx((2 + 1) / (2 * 3))


def test_auc_is_undefined_when_all_candidates_are_relevant_or_none_is():
    assert np.isnan(value_of("auc", user([1, 1, 2])))
    assert np.isnan(value_of("auc", user([0, 0])))
    assert np.isnan(value_of("auc", []))


@pytest.mark.parametrize("name", ["ndcg", "mrr", "hit", "recall", "precision", "map"])
def test_users_without_a_relevant_candidate_are_undefined(name):
    nothing, something = user([0, 0, 0]), user([0, 1])
    values = values_of(f"{name}@2", [nothing, something, []])
    assert np.isnan(values).tolist() == [True, False, True]


def test_pooled_auc_compares_candidates_of_different_users():
    # per user both are perfect; together 0.2 (relevant) loses to 0.8 (not relevant)
    scores = np.array([0.9, 0.8, 0.2, 0.1])
    labels = np.array([1.0, 0.0, 1.0, 0.0])
    assert pooled_auc(scores, labels) == approx((2 + 1) / (2 * 2))


THREE = [
    [Candidate(7, 0.2, 1.0), Candidate(4, 0.9, 0.0), Candidate(9, 0.5, 3.0)],
    [],
    [Candidate(4, 0.1, 2.0)],
]


def approx_values(values):
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
    assert mean_over_places(lists, 3, per_item) == approx_values([(1 + 4) / 2, np.nan, 1])
    weights = np.array([1.0, 0.5, 0.25])
    assert mean_over_places(lists, 3, per_item, weights) == approx_values(
        [(1 * 1 + 0.5 * 4) / (1 + 0.5), np.nan, 1]
    )


def test_a_metric_may_look_deeper_than_was_asked_for():
    lists = ranked_lists(THREE, max_k=1)
    assert ids_of(lists, 5) == [[4, 9, 7], [], [4]]
    assert lists.ideal_labels(5)[0].tolist() == [3, 1, 0, 0, 0]


CLOSED = [*SLOW_FROM_LABELS]


@st.composite
def tied_users(draw) -> User:
    """A few candidates with few scores and graded labels, fractions among them."""
    n = draw(st.integers(1, 6))
    scores = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from([0, 0, 0.1, 1, 0.7, 3]), min_size=n, max_size=n))
    return user(labels, scores)


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


def test_lists_tied_at_the_cut_off():
    lists = ranked_lists(
        [user([0, 1, 1], [3, 2, 2]), user([0, 1, 1]), user([0, 1], [2, 2]), []], max_k=2
    )
    assert lists.are_tied(1)[0].tolist() == [False, False, True, False]
    assert lists.are_tied(1)[1].tolist() == [False, False, True, False]
    assert lists.are_tied(2)[1].tolist() == [True, False, True, False]
    assert lists.are_tied(3)[1].tolist() == [True, False, True, False]


PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")


DIRECTION = {True: "higher", False: "lower", None: "neither"}


def table_row(name: str) -> list[str]:
    """The cells of a metric's row in the table at the top of the page."""
    written = re.escape(METRICS[name].written)
    (row,) = re.findall(rf"^\| `{written}` \|(.*)\|$", PAGE, flags=re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


@pytest.mark.parametrize("name", list(METRICS))
def test_every_metric_has_a_section(name):
    assert re.search(rf"^### .*`{re.escape(METRICS[name].written)}`", PAGE, flags=re.MULTILINE)


@pytest.mark.parametrize("name", list(METRICS))
def test_the_table_names_cutoff_direction_and_tables_of_every_metric(name):
    found = METRICS[name]
    better, needs, *_ = table_row(name)
    assert better == DIRECTION[found.higher_is_better]
    said = {need.replace("_", " ") for need in found.needs}
    assert {need.strip() for need in needs.split(",")} == (said or {"nothing"})
