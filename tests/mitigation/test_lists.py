"""How a new order becomes new scores."""

from __future__ import annotations

import numpy as np

from tests.metrics.metric_lists import Candidate, World
from tests.mitigation.rerank_world import RerankWorld


def test_scores_in_a_new_order_give_way_by_a_hair_where_they_were_equal():
    one = [Candidate(item, score, 0.0) for item, score in enumerate([2.0, 1.0, 1.0, 1.0, 0.5])]
    world = RerankWorld(World([one], {0: frozenset("a")}, [(0, 0)]))
    scores = world.lists.scores_in(np.array([3, 0, 2, 1, 4]))
    hair = np.nextafter(1.0, 0.0)
    assert scores.tolist() == [1.0, np.nextafter(hair, 0.0), hair, 2.0, 0.5]
