"""The categories of the history."""

from __future__ import annotations

import numpy as np

from tests.mitigation.rerankers.levels import levels, world_without_ties
from tests.mitigation.rerankers.slow_rerankers import divergence, history_distribution


def test_calibrated_lowers_the_divergence_with_its_strength():
    world = world_without_ties()
    asked = [
        (one, history_distribution(world, one))
        for one in range(world.lists.n_lists)
        if world.lists.user[one] >= 0 and len(world.rows(one)) >= 5
    ]
    assert len(asked) > 50

    def level(order) -> float:
        return float(
            np.mean([divergence(world, want, world.part(order, one)[:5]) for one, want in asked])
        )

    diverged = levels(world, "calibrated", level)
    assert np.diff(diverged).max() < 0
    assert diverged[-1] < 0.7 * diverged[0]
