"""Categories of lists beside those of histories, worked out by hand."""

from __future__ import annotations

from math import log

import numpy as np
from pytest import approx

from tests.metrics.metric_lists import user, value_of, values_of

KINDS = {0: frozenset("a"), 1: frozenset("b"), 2: frozenset("ab"), 3: frozenset()}


def test_a_list_in_the_proportions_of_the_history_is_no_distance_from_it():
    history = [(0, 0), (0, 1), (0, 0)]  # a repeated interaction counts once
    assert value_of("miscalibration@2", user([0, 0]), KINDS, history) == approx(0, abs=1e-12)
    assert value_of("miscalibration@3", user([0, 0, 0]), KINDS, history) == approx(0, abs=1e-12)


def test_the_distance_is_the_divergence_of_the_list_with_a_hundredth_of_the_history():
    history = [(0, 0), (0, 2)]  # three quarters a, one quarter b
    only_a = 0.75 * log(0.75 / (0.99 + 0.01 * 0.75)) + 0.25 * log(0.25 / (0.01 * 0.25))
    assert value_of("miscalibration@1", user([0, 0]), KINDS, history) == approx(only_a)


def test_nothing_of_what_was_chosen_is_the_largest_distance():
    assert value_of("miscalibration@1", user([0, 0]), KINDS, [(0, 1)]) == approx(-log(0.01))


def test_it_is_undefined_without_categories_on_either_side():
    users = [user([0]), user([0]), [], user([0, 0, 0, 0], [0, 0, 0, 1])]
    values = values_of("miscalibration@1", users, KINDS, [(0, 0), (1, 3), (2, 0), (3, 0)])
    assert np.isnan(values).tolist() == [False, True, True, True]
