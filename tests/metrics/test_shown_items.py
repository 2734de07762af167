"""What people are shown, in small lists worked out by hand."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from pytest import approx

from tests.metrics.metric_lists import user, value_of, values_of

# items 0, 1, 2 are of kind a, a and b, and nothing is known of item 3; they cost 10, 11, 12
KINDS = {0: frozenset("a"), 1: frozenset("ab"), 2: frozenset("b")}
# of 10 interactions item 0 has 5, item 1 has 3, items 2 and 4 have 1, item 3 none
HISTORY = [(0, 0)] * 5 + [(1, 1)] * 3 + [(2, 2), (0, 4)]


def test_share_is_that_of_the_discounted_places():
    places = [1 / log2(2), 1 / log2(3), 1 / log2(4)]
    assert value_of("share@3[kind=a]", user([0, 0, 0]), KINDS) == approx(
        (places[0] + places[1]) / sum(places)
    )
    other_end = user([0, 0, 0], scores=[1, 2, 3])
    assert value_of("share@3[kind=a]", other_end, KINDS) == approx(
        (places[1] + places[2]) / sum(places)
    )
    assert value_of("share@1[kind=a]", other_end, KINDS) == 0


def test_places_of_which_nothing_is_known_are_left_out():
    unknown_first = user([0, 0, 0, 0], scores=[2, 0, 1, 3])
    places = [1 / log2(3), 1 / log2(4)]
    assert value_of("share@3[kind=a]", unknown_first, KINDS) == approx(places[0] / sum(places))
    assert np.isnan(value_of("share@1[kind=a]", unknown_first, KINDS))


def test_mean_is_over_the_items_with_a_number():
    assert value_of("mean@2[price]", user([0, 0, 0]), KINDS) == 10.5
    assert value_of("mean@9[price]", user([0, 0, 0, 0]), KINDS) == 11
    assert np.isnan(value_of("mean@9[price]", [], KINDS))


def test_novelty_is_in_bits_and_an_item_nobody_knows_counts_as_one_interaction():
    assert value_of("novelty@1", user([0]), history=HISTORY) == 1
    bits = [-log2(0.5), -log2(0.3), -log2(0.1), -log2(0.1)]
    assert value_of("novelty@4", user([0] * 4), history=HISTORY) == approx(sum(bits) / 4)


def test_the_tail_is_all_but_the_most_popular_fifth():
    # a fifth of 4 items, rounded
    assert value_of("long_tail@3", user([0, 0, 0]), history=HISTORY) == approx(2 / 3)
    assert value_of("long_tail@1", user([0]), history=HISTORY) == 0


@pytest.mark.parametrize("name", ["share@3[kind=a]", "mean@3[price]", "novelty@3", "long_tail@3"])
def test_nobody_is_shown_nothing(name):
    values = values_of(name, [[], user([1, 0]), []], KINDS, HISTORY)
    assert np.isnan(values).tolist() == [True, False, True]
