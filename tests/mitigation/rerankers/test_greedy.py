"""Places filled one after the other: against slow loops, and at rising strength."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairrec.metrics import parse_metric
from tests.metrics.metric_lists import per_user, random_world
from tests.mitigation.rerank_world import RerankWorld, mean_of
from tests.mitigation.rerankers.slow_rerankers import (
    GREEDY,
    categories_of,
    model_order,
)


def world_without_ties(seed: int = 0) -> RerankWorld:
    """Long lists of many users."""
    rng = np.random.default_rng(seed)
    drawn = random_world(rng, n_users=200, max_length=20, n_items=40, has_ties=False)
    return RerankWorld(drawn, k=5)


def levels(world: RerankWorld, name: str, level: Callable[[Any], float]) -> list[float]:
    """The mean level at rising strength, the model's own first."""
    orders = [world.lists.by_score, *(world.order(name, s) for s in (0.2, 0.4, 0.6, 0.8, 1.0))]
    return [level(order) for order in orders]


def metric_mean(world: RerankWorld, order: Any, metric: str) -> float:
    """The mean of a metric after a re-ranking."""
    return mean_of(per_user(parse_metric(metric), world.ranked_after(order)))


SEEDS = st.integers(0, 10_000)
STRENGTHS = st.sampled_from([0.05, 0.3, 0.5, 0.85, 1.0])


def assert_greedy(world: RerankWorld, name: str, strength: float) -> None:
    """Each place has the most valuable of the rows left, below them the model's order."""
    order = world.order(name, strength)
    for one in range(world.lists.n_lists):
        rows, left = world.part(order, one), model_order(world, one)
        value = GREEDY[name](world, one, strength) if left else None
        if value is None:
            assert rows == left
            continue
        for place in range(min(world.lists.k, len(rows))):
            worth = {row: value(rows[:place], row) for row in left}
            best, taken = max(worth.values()), rows[place]
            assert worth[taken] == pytest.approx(best, abs=1e-9)
            # of candidates that differ in nothing the one the model has first is taken
            twins = [
                row
                for row in left
                if world.lists.scores[row] == world.lists.scores[taken]
                and categories_of(world, row) == categories_of(world, taken)
                and popularity_of(world, row) == popularity_of(world, taken)
            ]
            assert twins[0] == taken
            left.remove(taken)
        assert rows[world.lists.k :] == left


def popularity_of(world: RerankWorld, row: int) -> float:
    return float(world.lists.side.popularity.per_item[world.lists.items[row]])


@pytest.mark.parametrize("name", GREEDY)
@given(seed=SEEDS, strength=STRENGTHS, k=st.sampled_from([1, 3, 5, 20]), has_ties=st.booleans())
@settings(max_examples=15)
def test_each_place_is_filled_with_the_most_valuable_candidate(name, seed, strength, k, has_ties):
    drawn = random_world(np.random.default_rng(seed), n_users=8, n_items=15, has_ties=has_ties)
    assert_greedy(RerankWorld(drawn, k=k), name, strength)


def test_mmr_raises_diversity_with_its_strength():
    world = world_without_ties()
    urd = levels(world, "mmr", lambda order: metric_mean(world, order, "urd@5"))
    assert np.diff(urd).min() > 0
    assert urd[-1] > urd[0] + 0.05


def test_popularity_calibrated_lowers_the_popularity_bias_with_its_strength():
    world = world_without_ties()
    name = "popularity_calibrated"
    bias = levels(world, name, lambda order: metric_mean(world, order, "urp_abs@5"))
    assert np.diff(bias).max() < 0
    assert bias[-1] < 0.7 * bias[0]
