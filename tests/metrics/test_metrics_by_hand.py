"""Metrics of small lists, worked out by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pytest import approx

import fairrec
from fairrec.metrics.accuracy import pooled_auc
from tests.metrics.metric_lists import Candidate, user, value_of, values_of

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


@pytest.mark.parametrize("name", ["ndcg", "mrr", "hit", "recall", "precision", "map"])
def test_equal_scores_keep_the_order_of_the_rows(name):
    first = value_of(f"{name}@1", user([1, 0], scores=[7, 7]))
    second = value_of(f"{name}@1", user([0, 1], scores=[7, 7]))
    assert (first, second) == (1, 0)


def test_pooled_auc_compares_candidates_of_different_users():
    # per user both are perfect; together 0.2 (relevant) loses to 0.8 (not relevant)
    scores = np.array([0.9, 0.8, 0.2, 0.1])
    labels = np.array([1.0, 0.0, 1.0, 0.0])
    assert pooled_auc(scores, labels) == approx((2 + 1) / (2 * 2))


def test_pooled_auc_counts_ties_half_and_is_undefined_for_one_kind_of_label():
    assert pooled_auc(np.array([1.0, 1.0, 0.0]), np.array([2.0, 0.0, 0.0])) == approx(1.5 / 2)
    assert np.isnan(pooled_auc(np.array([1.0, 0.0]), np.array([1.0, 1.0])))
    assert np.isnan(pooled_auc(np.array([1.0, 0.0]), np.array([0.0, 0.0])))


CATEGORIES = {
    0: frozenset({"action", "comedy"}),
    1: frozenset({"comedy", "drama"}),
    2: frozenset({"horror"}),
    3: frozenset({"action", "comedy"}),
    4: frozenset(),
}


def test_urd_is_one_minus_the_mean_similarity_of_all_pairs():
    similarities = (1 / 3, 0, 0)  # 0-1 share comedy of three; 0-2 and 1-2 share nothing
    assert value_of("urd@3", user([0, 0, 0]), CATEGORIES) == approx(1 - sum(similarities) / 3)


def test_urd_looks_at_the_first_k_items_only():
    assert value_of("urd@2", user([0, 0, 0, 0]), CATEGORIES) == approx(1 - 1 / 3)
    same, different = user([0] * 4, [4, 1, 1, 3]), user([0] * 4, [4, 1, 3, 1])
    assert value_of("urd@2", same, CATEGORIES) == 0
    assert value_of("urd@2", different, CATEGORIES) == 1


def test_urd_leaves_out_pairs_with_an_item_of_unknown_category():
    # item 4 has no category and item 5 is not in the table, so only the pair 0-1 counts
    unknown = [Candidate(item, -place, 0) for place, item in enumerate((0, 4, 5, 1))]
    assert value_of("urd@4", unknown, CATEGORIES) == approx(1 - 1 / 3)


def test_urd_is_undefined_without_a_pair():
    lonely = [Candidate(0, 2, 1), Candidate(4, 1, 0)]
    assert np.isnan(values_of("urd@5", [user([1]), lonely, []], CATEGORIES)).all()
    assert np.isnan(value_of("urd@1", user([1, 0, 0]), CATEGORIES))


# item 0 has 5 of 10 training interactions, item 1 has 3, item 2 has 2, item 3 none
HISTORY = [(0, 1), (0, 2), (0, 2), (1, 0), (1, 0), (9, 0), (9, 0), (9, 0), (9, 1), (9, 1)]


def test_urp_is_the_popularity_of_the_list_minus_that_of_the_history_in_percent():
    recommended = (50 + 30) / 2
    chosen = (30 + 20 + 20) / 3  # a repeated interaction counts again
    assert value_of("urp@2", user([0, 0, 0]), history=HISTORY) == approx(recommended - chosen)


def test_urp_has_a_sign_and_urp_abs_has_none():
    users = [user([0], [1]), [Candidate(2, 1, 0)]]
    signed = [50 - (30 + 20 + 20) / 3, 20 - 50]
    assert values_of("urp@1", users, history=HISTORY) == approx(signed)
    assert values_of("urp_abs@1", users, history=HISTORY) == approx([signed[0], 30])


def test_urp_counts_items_without_interactions_as_popularity_zero():
    new_and_old = [Candidate(3, 2, 0), Candidate(1, 1, 0)]
    assert value_of("urp@2", new_and_old, history=HISTORY) == approx((0 + 30) / 2 - 70 / 3)


def test_urp_of_a_short_list_is_the_mean_over_the_items_there_are():
    assert value_of("urp@5", user([0]), history=HISTORY) == approx(50 - 70 / 3)


@pytest.mark.parametrize("name", ["urp@3", "urp_abs@3"])
def test_urp_is_undefined_without_history_or_candidates(name):
    users = [[], user([1, 0]), user([1, 0])]
    values = values_of(name, users, history=HISTORY)
    assert np.isnan(values).tolist() == [True, False, True]


def two_groups() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Users 1 and 2 are perfect each, but not together; so is user 3, who is alone."""
    users = pl.DataFrame({"user_id": [1, 2, 3], "group": ["a", "a", "b"]})
    predictions = pl.DataFrame(
        {
            "user_id": [1, 1, 2, 2, 3, 3],
            "item_id": [1, 2, 1, 2, 1, 2],
            "score": [0.9, 0.8, 0.2, 0.1, 0.6, 0.5],
            "label": [1, 0, 1, 0, 1, 0],
        }
    )
    return users, predictions


def test_audit_pools_a_group_for_pooled_auc_and_takes_the_mean_for_auc():
    users, predictions = two_groups()
    result = fairrec.audit(
        predictions, users=users, by="group", metrics="auc,pooled_auc", permutations=20
    )
    assert result.gap("auc").size == 0
    gap = result.gap("pooled_auc")
    assert gap.size == approx(1 - 3 / 4)
    assert (gap.advantaged.group, gap.disadvantaged.group) == ({"group": "b"}, {"group": "a"})


def test_pooled_auc_has_full_combinations_only_and_neither_tests_nor_a_column():
    users, predictions = two_groups()
    users = users.with_columns(pl.Series("age", ["old", "young", "old"]))
    result = fairrec.audit(
        predictions, users=users, by="group,age", metrics="auc,pooled_auc", permutations=20
    )
    groups = result.groups("pooled_auc")
    assert set(groups["depth"]) == {2}
    assert groups["p_value"].null_count() == len(groups) == 3
    assert result.metric("pooled_auc").chance is None
    assert result.findings("pooled_auc") == ()
    assert "pooled_auc" not in result.per_user.columns
    assert set(result.groups("auc")["depth"]) == {1, 2}


def test_pooled_auc_can_be_asked_for_alone():
    users, predictions = two_groups()
    result = fairrec.audit(predictions, users=users, by="group", metrics="pooled_auc")
    assert result.gap("pooled_auc").size == approx(1 - 3 / 4)
