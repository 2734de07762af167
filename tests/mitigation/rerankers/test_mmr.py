"""Diversity."""

from __future__ import annotations

import numpy as np

from tests.mitigation.rerankers.levels import levels, metric_mean, world_without_ties


def test_mmr_raises_diversity_with_its_strength():
    world = world_without_ties()
    urd = levels(world, "mmr", lambda order: metric_mean(world, order, "urd@5"))
    assert np.diff(urd).min() > 0
    assert urd[-1] > urd[0] + 0.05
