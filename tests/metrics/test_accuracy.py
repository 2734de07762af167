"""Accuracy of small lists, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.metrics.accuracy import pooled_auc
from tests.metrics.metric_lists import user, value_of, values_of

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


def test_ndcg_compares_the_first_k_with_the_best_k():
    assert value_of("ndcg@2", user([1, 0, 3, 2])) == approx(1 / (3 + 2 / LOG2_3))


def test_ndcg_of_a_list_shorter_than_k_needs_no_more_items():
    assert value_of("ndcg@10", user([0, 2])) == approx((2 / LOG2_3) / 2)
    assert value_of("ndcg@10", user([2, 0])) == 1


def test_ndcg_is_2_9485_times_that_of_an_ideal_list_of_five_relevant_items():
    five_discounts = sum(1 / np.log2(place + 1) for place in (1, 2, 3, 4, 5))
    as_in_the_paper = (1 / LOG2_3) / five_discounts
    assert five_discounts == approx(2.9485, abs=5e-5)
    assert value_of("ndcg@5", user([0, 1, 0, 0, 0])) == approx(as_in_the_paper * five_discounts)


def test_mrr_is_one_over_the_place_of_the_first_relevant_item():
    assert value_of("mrr@5", user([1, 0, 1])) == 1
    assert value_of("mrr@5", user([0, 0, 1, 1])) == approx(1 / 3)


def test_mrr_is_zero_when_the_first_relevant_item_is_past_k():
    assert value_of("mrr@2", user([0, 0, 1])) == 0
    assert value_of("mrr@1", user([1])) == 1


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


def test_precision_divides_by_k_even_when_the_list_is_shorter():
    assert value_of("precision@5", user([1, 1])) == approx(2 / 5)


def test_map_is_the_mean_precision_at_the_places_of_the_relevant_items():
    assert value_of("map@5", user([1, 0, 1, 0, 1])) == approx((1 / 1 + 2 / 3 + 3 / 5) / 3)


def test_map_divides_by_k_where_more_items_than_k_are_relevant():
    assert value_of("map@2", user([1, 1, 1])) == approx((1 / 1 + 2 / 2) / 2)
    assert value_of("map@2", user([0, 1, 1])) == approx((1 / 2) / 2)


def test_map_counts_relevant_items_past_k_in_the_divisor():
    assert value_of("map@2", user([1, 0, 1])) == approx((1 / 1) / 2)


def test_auc_is_the_share_of_pairs_in_the_right_order():
    # relevant items with scores 4 and 2, others with 5, 3 and 1: 4 wins twice, 2 wins once
    assert value_of("auc", user([0, 1, 0, 1, 0])) == approx((2 + 1) / (2 * 3))


def test_auc_counts_a_tie_as_half_a_win():
    assert value_of("auc", user([1, 0, 0], scores=[2, 2, 1])) == approx((0.5 + 1) / 2)
    assert value_of("auc", user([1, 0], scores=[3, 3])) == approx(1 / 2)


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


def test_pooled_auc_counts_ties_half_and_is_undefined_for_one_kind_of_label():
    assert pooled_auc(np.array([1.0, 1.0, 0.0]), np.array([2.0, 0.0, 0.0])) == approx(1.5 / 2)
    assert np.isnan(pooled_auc(np.array([1.0, 0.0]), np.array([1.0, 1.0])))
    assert np.isnan(pooled_auc(np.array([1.0, 0.0]), np.array([0.0, 0.0])))
