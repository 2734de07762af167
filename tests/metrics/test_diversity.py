"""Diversity of small lists, worked out by hand."""

from __future__ import annotations

import numpy as np
from pytest import approx

from tests.metrics.metric_lists import Candidate, user, value_of, values_of

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
