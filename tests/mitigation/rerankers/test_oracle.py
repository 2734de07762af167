"""The upper bound that sees the labels."""

from __future__ import annotations

import numpy as np

from fairrec.mitigation.reranker import RERANKERS
from tests.metrics.metric_lists import World, random_world, user
from tests.mitigation.rerank_world import RerankWorld


def test_the_oracle_puts_relevant_items_first():
    world = RerankWorld(random_world(np.random.default_rng(2), n_users=50))
    shown = world.ranked_after(world.order("oracle", 1.0))
    np.testing.assert_array_equal(shown.labels(12), shown.ideal_labels(12))


def test_items_with_equal_labels_keep_the_models_order():
    world = RerankWorld(
        World([user([0, 1, 0, 2, 1], [9, 7, 5, 3, 1])], {0: frozenset("a")}, [(0, 0)]), k=5
    )
    assert world.order("oracle", 1.0).tolist() == [3, 1, 4, 0, 2]


def test_nothing_else_sees_the_labels():
    assert [name for name in RERANKERS if RERANKERS[name].is_upper_bound] == ["oracle"]
