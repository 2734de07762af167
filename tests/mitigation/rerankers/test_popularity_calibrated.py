"""Popularity."""

from __future__ import annotations

import numpy as np

from tests.mitigation.rerankers.levels import levels, metric_mean, world_without_ties


def test_popularity_calibrated_lowers_the_popularity_bias_with_its_strength():
    world = world_without_ties()
    name = "popularity_calibrated"
    bias = levels(world, name, lambda order: metric_mean(world, order, "urp_abs@5"))
    assert np.diff(bias).max() < 0
    assert bias[-1] < 0.7 * bias[0]
