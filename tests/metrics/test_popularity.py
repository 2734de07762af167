"""Popularity of small lists beside that of histories, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from tests.metrics.metric_lists import Candidate, user, value_of, values_of

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
