"""What a user's own group chose in training."""

from __future__ import annotations

import numpy as np
from pytest import approx

from fairrec.mitigation.rerankers.blends import PRIOR, GroupPrior
from tests.metrics.metric_lists import World, user
from tests.mitigation.rerank_world import RerankWorld

# users 0 and 2 are in group 0, users 1 and 3 in group 1; nobody had item 2
HISTORY = [(0, 1), (2, 1), (1, 0), (3, 0)]
WORLD = RerankWorld(World([user([0, 0, 0], [1, 2, 3])] * 4, {0: frozenset("a")}, HISTORY), k=3)


def test_few_interactions_of_a_group_weigh_little_beside_those_of_everyone():
    # each item has half of all interactions; group 0 has both of its own with item 1
    shares = np.exp(GroupPrior(WORLD.training)._log_share)
    half = PRIOR / 2
    expected = np.array([[half, half + 2], [half + 2, half]]) / (PRIOR + 2)
    assert WORLD.history.item_ids.to_list() == [0, 1]
    assert shares == approx(expected)


def test_each_user_gets_what_the_own_group_chose_and_what_nobody_had_counts_as_the_rarest():
    order = WORLD.order("group_prior", 1.0)
    # items 0 and 2 are equally rare in group 0, so the model has item 2 first
    assert [WORLD.part(order, one) for one in (0, 2)] == [[1, 2, 0], [7, 8, 6]]
    assert [WORLD.part(order, one) for one in (1, 3)] == [[3, 5, 4], [9, 11, 10]]
