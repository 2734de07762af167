"""Two opinions of the same candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairrec.mitigation.rerankers.blends import blended_orders
from tests.metrics.metric_lists import World, random_world, user
from tests.mitigation.rerank_world import RerankWorld
from tests.mitigation.rerankers.slow_rerankers import BLENDS, blend_keys, model_order

SEEDS = st.integers(0, 10_000)
STRENGTHS = st.sampled_from([0.05, 0.3, 0.5, 0.85, 1.0])
LISTS = RerankWorld(World([user([0, 0, 0], [3, 2, 1])], {0: frozenset("a")}, [(0, 0)])).lists


def test_each_opinion_is_scaled_within_the_list_and_weighed_by_the_strength():
    # scores 3, 2, 1 are a, 0, -a and opinions 0, 0, 6 are -b, -b, 2b
    a, b = np.sqrt(3 / 2), np.sqrt(1 / 2)
    order = blended_orders(LISTS, np.array([0.0, 0.0, 6.0]))
    # the last passes the second where -(1 - s) a + 2 s b = -s b, the first where it is (1 - s) a
    past_second, past_first = a / (a + 3 * b), 2 * a / (2 * a + 3 * b)
    assert order(past_second - 0.01).tolist() == [0, 1, 2]
    assert order(past_second + 0.01).tolist() == [0, 2, 1]
    assert order(past_first - 0.01).tolist() == [0, 2, 1]
    assert order(past_first + 0.01).tolist() == [2, 0, 1]


def test_at_full_strength_the_opinion_decides_and_equal_ones_keep_the_models_order():
    assert blended_orders(LISTS, np.array([1.0, 2.0, 2.0]))(1.0).tolist() == [1, 2, 0]


@pytest.mark.parametrize("name", BLENDS)
@given(seed=SEEDS, strength=STRENGTHS)
# its opinions of one list are equal but for rounding
@example(seed=259, strength=0.85)
@settings(max_examples=20)
def test_blend_ranks_by_both_opinions(name, seed, strength):
    drawn = random_world(np.random.default_rng(seed), n_users=12, n_items=15)
    group = np.random.default_rng(seed).integers(0, 3, 12)
    world = RerankWorld(drawn, group=group)
    order = world.order(name, strength)
    for one, opinion in enumerate(BLENDS[name](world)):
        keys = blend_keys(world, one, strength, opinion)
        rows = world.part(order, one)
        fallen = np.diff([keys[row] for row in rows])
        assert (fallen <= 1e-9).all()
        # where opinions are equal but for rounding, either may come first
        if (fallen < -1e-9).all():
            assert rows == sorted(model_order(world, one), key=lambda row: -keys[row])
